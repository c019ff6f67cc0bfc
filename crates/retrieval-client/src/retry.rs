//! Retries with exponential back-off: 429 and 5xx except 507, up to three times, after 500 ms, doubled each time, at most 8 s.
//! A busy server says how long to wait.

use std::time::Duration;

/// Maximum number of retries.
pub const MAX_RETRIES: u32 = 3;
/// Maximum number of attempts in a row to resume a stream: they outlast the restart of a server.
pub const MAX_RESUMPTIONS: u32 = 6;
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(8);

/// Policy for a request that the server may already have executed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Repeat {
    /// Executing it twice has the effect of executing it once.
    Safe,
    /// A second execution has a cost: searches are charged, feedback counts, runs do work. Retried only if the connection
    /// failed, or if the response says that nothing was done: 429, 503, and errors of the service with another 5xx.
    Unsafe,
}

/// The failure of one attempt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Failure {
    /// 429, with the time that its details name, or else until the next window.
    RateLimited(Duration),
    /// 503 with `Retry-After`.
    Overloaded(Duration),
    /// Another status.
    Status(u16),
    /// No connection: nothing was sent.
    NotConnected,
    /// The response was lost after the request went out, at least in part: the connection broke, or a proxy failed.
    Broken,
}

/// Returns the wait before the next attempt, or `None` to give up, after `retries` retries. `random` is in 0..1.
///
/// Waits are shortened at random by up to a half, so that clients that failed together do not return together.
pub fn wait(failure: Failure, repeat: Repeat, retries: u32, random: f64) -> Option<Duration> {
    if retries >= MAX_RETRIES { None } else { pause(failure, repeat, retries, random) }
}

/// Returns the wait before a stream is resumed, or `None` to give up, after `attempts` without an event.
pub fn resumption(failure: Failure, attempts: u32, random: f64) -> Option<Duration> {
    if attempts >= MAX_RESUMPTIONS { None } else { pause(failure, Repeat::Safe, attempts, random) }
}

fn pause(failure: Failure, repeat: Repeat, retries: u32, random: f64) -> Option<Duration> {
    let backoff = FIRST_WAIT.saturating_mul(1 << retries).min(LONGEST_WAIT);
    match failure {
        // The random part spreads clients that wait for the same window.
        Failure::RateLimited(window) | Failure::Overloaded(window) => Some(window + backoff.mul_f64(random / 4.0)),
        // A quota does not free itself within seconds.
        Failure::Status(507) => None,
        Failure::Status(500..) | Failure::NotConnected => Some(backoff.mul_f64(1.0 - random / 2.0)),
        Failure::Broken if repeat == Repeat::Safe => Some(backoff.mul_f64(1.0 - random / 2.0)),
        Failure::Status(_) | Failure::Broken => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(failure: Failure, repeat: Repeat, retries: u32, random: f64) -> Option<u128> {
        wait(failure, repeat, retries, random).map(|wait| wait.as_millis())
    }

    #[test]
    fn waits_double_until_retries_are_exhausted() {
        let waits: Vec<_> = (0..4).map(|retries| ms(Failure::Status(502), Repeat::Unsafe, retries, 0.0)).collect();
        assert_eq!(waits, [Some(500), Some(1000), Some(2000), None]);
        assert_eq!(ms(Failure::Status(500), Repeat::Safe, 0, 1.0), Some(250));
    }

    #[test]
    fn streams_are_resumed_for_longer() {
        let waits: Vec<_> = (0..7).map(|attempts| resumption(Failure::Broken, attempts, 0.0)).collect();
        let seconds = [0.5, 1.0, 2.0, 4.0, 8.0, 8.0].map(|seconds| Some(Duration::from_secs_f64(seconds)));
        assert_eq!(waits, [&seconds[..], &[None]].concat());
        assert_eq!(resumption(Failure::Status(404), 0, 0.0), None);
    }

    #[test]
    fn other_statuses_are_final() {
        for status in [301, 400, 401, 402, 403, 404, 409, 413, 415, 499, 507] {
            assert_eq!(ms(Failure::Status(status), Repeat::Safe, 0, 0.0), None, "{status}");
        }
    }

    #[test]
    fn rate_limit_wait_lasts_until_the_window() {
        let window = Duration::from_millis(700);
        assert_eq!(ms(Failure::RateLimited(window), Repeat::Unsafe, 0, 0.0), Some(700));
        assert_eq!(ms(Failure::RateLimited(window), Repeat::Unsafe, 2, 1.0), Some(1200));
        assert_eq!(ms(Failure::RateLimited(window), Repeat::Safe, 3, 0.0), None);
    }

    #[test]
    fn busy_server_decides_how_long_to_wait() {
        let busy = Failure::Overloaded(Duration::from_secs(2));
        assert_eq!(ms(busy, Repeat::Unsafe, 0, 1.0), Some(2125));
        assert_eq!(ms(busy, Repeat::Unsafe, 3, 0.0), None);
    }

    #[test]
    fn broken_connections_are_retried_only_for_safe_requests() {
        assert_eq!(ms(Failure::Broken, Repeat::Safe, 0, 0.0), Some(500));
        assert_eq!(ms(Failure::Broken, Repeat::Unsafe, 0, 0.0), None);
        assert_eq!(ms(Failure::NotConnected, Repeat::Unsafe, 0, 0.0), Some(500));
    }
}
