use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

/// Least speed of a peer.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Longest time without progress.
    pub patience: Duration,
    /// Least speed in the long run.
    pub bytes_per_second: u32,
}

/// Budget of time to wait for one peer: waiting consumes it, progress refills it up to the patience.
///
/// Only time in which the peer holds up the connection counts, so a slow server does not exhaust the budget.
#[derive(Debug)]
pub struct Waiting {
    pace: Pace,
    left: Duration,
    /// Start and timer of the current wait.
    current: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl Waiting {
    pub fn new(pace: Pace) -> Self {
        Self { pace, left: pace.patience, current: None }
    }

    /// Ends a wait.
    pub fn progress(&mut self, bytes: usize) {
        if let Some((started, _)) = self.current.take() {
            self.left = self.left.saturating_sub(started.elapsed());
        }
        let earned = Duration::from_secs_f64(bytes as f64 / f64::from(self.pace.bytes_per_second.max(1)));
        self.left = self.left.saturating_add(earned).min(self.pace.patience);
    }

    /// Begins or continues a wait. Ready when the budget is used up.
    pub fn poll_exhausted(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let left = self.left;
        let (_, timer) = self.current.get_or_insert_with(|| {
            let now = Instant::now();
            (now, Box::pin(tokio::time::sleep_until(now + left)))
        });
        timer.as_mut().poll(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace { patience: Duration::from_secs(30), bytes_per_second: 1_000 };

    /// Waits for `waits` times `pause`, with `bytes` after each. Returns the number of complete waits.
    async fn complete_waits(bytes: usize, pause: Duration, waits: usize) -> usize {
        let mut waiting = Waiting::new(PACE);
        for done in 0..waits {
            let exhausted = std::future::poll_fn(|context| waiting.poll_exhausted(context));
            if tokio::time::timeout(pause, exhausted).await.is_ok() {
                return done;
            }
            waiting.progress(bytes);
        }
        waits
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_of_the_least_speed_may_take_forever() {
        assert_eq!(complete_waits(10_000, Duration::from_secs(10), 1_000).await, 1_000);
        assert_eq!(complete_waits(1_000_000, Duration::from_secs(29), 1_000).await, 1_000);
    }

    #[tokio::test(start_paused = true)]
    async fn a_trickle_uses_up_the_patience() {
        assert_eq!(complete_waits(1, Duration::from_secs(1), 1_000).await, 30);
        // A fast start buys no more than the patience.
        assert_eq!(complete_waits(1 << 30, Duration::from_secs(31), 10).await, 0);
    }
}
