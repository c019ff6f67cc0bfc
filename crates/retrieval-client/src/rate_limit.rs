//! `X-RateLimit-*`, and how long to wait for the next window.

use std::time::Duration;

use api_types::RateLimit;
use reqwest::header::{DATE, HeaderMap};
use time::OffsetDateTime;
use time::format_description::well_known::{Rfc2822, Rfc3339};

/// The server's windows are one second long.
const WINDOW: Duration = Duration::from_secs(1);
/// A reset further away than this is a clock that differs, not a window.
const FURTHEST: Duration = Duration::from_secs(3);

/// The headers as the block that mirrors them; `None` when they are missing or make no sense.
pub fn of(headers: &HeaderMap) -> Option<RateLimit> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    Some(RateLimit {
        limit_rps: text("x-ratelimit-limit-rps")?.parse().ok()?,
        remaining: text("x-ratelimit-remaining")?.parse().ok()?,
        reset_at: text("x-ratelimit-reset")?.to_owned(),
    })
}

/// How long it is until `X-RateLimit-Reset`, seen from `now`.
///
/// The two clocks may differ. A reset that lies in the past or far away is measured against the server's own `Date`
/// (whole seconds: at most a window too long); without a usable one, a whole window is waited for.
pub fn until_reset(headers: &HeaderMap, now: OffsetDateTime) -> Duration {
    let Some(reset) = headers.get("x-ratelimit-reset").and_then(|value| value.to_str().ok()) else { return WINDOW };
    let Ok(reset) = OffsetDateTime::parse(reset, &Rfc3339) else { return WINDOW };
    let server_now = || OffsetDateTime::parse(headers.get(DATE)?.to_str().ok()?, &Rfc2822).ok();
    near(reset, now).or_else(|| near(reset, server_now()?)).unwrap_or(WINDOW)
}

/// The distance, when it is one that a reset can have.
fn near(reset: OffsetDateTime, now: OffsetDateTime) -> Option<Duration> {
    Duration::try_from(reset - now).ok().filter(|wait| !wait.is_zero() && *wait <= FURTHEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    #[track_caller]
    fn check(reset: Option<&'static str>, date: Option<&'static str>, expected_ms: u64) {
        let mut headers = HeaderMap::new();
        if let Some(reset) = reset {
            headers.insert("x-ratelimit-reset", reset.parse().expect("a header"));
        }
        if let Some(date) = date {
            headers.insert(DATE, date.parse().expect("a header"));
        }
        let waited = until_reset(&headers, datetime!(2026-01-05 10:00:00.25 UTC));
        assert_eq!(waited, Duration::from_millis(expected_ms));
    }

    #[test]
    fn the_reset_is_waited_for() {
        check(Some("2026-01-05T10:00:01Z"), None, 750);
        check(Some("2026-01-05T11:00:01+01:00"), None, 750);
    }

    #[test]
    fn clocks_that_differ_are_seen_through() {
        let date = Some("Mon, 05 Jan 2026 09:00:00 GMT");
        check(Some("2026-01-05T09:00:01Z"), date, 1000);
        check(Some("2026-01-05T12:00:00Z"), Some("Mon, 05 Jan 2026 11:59:59 GMT"), 1000);
        check(Some("2026-01-05T09:00:01Z"), None, 1000);
        check(Some("2027-01-05T09:00:01Z"), date, 1000);
    }

    #[test]
    fn nonsense_is_a_whole_window() {
        check(None, None, 1000);
        check(Some("soon"), Some("then"), 1000);
    }
}
