//! Time until which a caller wants an answer.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

/// Time after which further work on an answer is skipped. The default has none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// Starts the time of a request.
    pub fn after(time: Duration) -> Self {
        Self(Instant::now().checked_add(time))
    }

    pub fn is_over(self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }

    /// Returns the time that is left; `None` without a deadline.
    pub fn left(self) -> Option<Duration> {
        self.0.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// Does the work, unless the time is over before its end: then `None`.
    pub async fn within<T>(self, work: impl Future<Output = T>) -> Option<T> {
        match self.0 {
            None => Some(work.await),
            Some(end) if Instant::now() >= end => None,
            Some(end) => tokio::time::timeout_at(end, work).await.ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn work_beyond_the_deadline_is_dropped() {
        let deadline = Deadline::after(Duration::from_millis(50));
        assert_eq!((deadline.within(async { 1 }).await, deadline.is_over()), (Some(1), false));
        assert_eq!(deadline.within(pending::<()>()).await, None);
        assert!(deadline.is_over() && deadline.left() == Some(Duration::ZERO));
        assert_eq!(deadline.within(async { 1 }).await, None, "nothing is begun");
        assert_eq!((Deadline::default().within(async { 1 }).await, Deadline::default().left()), (Some(1), None));
    }
}
