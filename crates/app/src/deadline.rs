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

    /// Returns a deadline that is earlier by `reserve`, or by half of the time that is left if that is less.
    #[must_use]
    pub fn earlier(self, reserve: Duration) -> Self {
        let earlier = |end: Instant| {
            let left = end.saturating_duration_since(Instant::now());
            end.checked_sub(reserve.min(left / 2)).unwrap_or(end)
        };
        Self(self.0.map(earlier))
    }

    /// Returns a deadline that leaves at least this time, counted from now.
    #[must_use]
    pub fn leaving(self, least: Duration) -> Self {
        let later = |end: Instant| Instant::now().checked_add(least).map_or(end, |least| least.max(end));
        Self(self.0.map(later))
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
        assert_eq!(deadline.leaving(Duration::from_millis(5)).left(), Some(Duration::from_millis(5)));
        assert_eq!((Deadline::default().within(async { 1 }).await, Deadline::default().left()), (Some(1), None));
    }

    #[tokio::test(start_paused = true)]
    async fn reserve_is_at_most_half_of_the_time() {
        let milliseconds = Duration::from_millis;
        let left = |time| Deadline::after(milliseconds(time)).earlier(milliseconds(100)).left();
        assert_eq!([1_000, 200, 60, 0].map(left), [900, 100, 30, 0].map(|left| Some(milliseconds(left))));
        let least = |time| Deadline::after(milliseconds(time)).leaving(milliseconds(100)).left();
        assert_eq!([1_000, 60].map(least), [1_000, 100].map(|left| Some(milliseconds(left))));
        let none = Deadline::default();
        assert_eq!((none.earlier(milliseconds(1)).left(), none.leaving(milliseconds(1)).left()), (None, None));
    }
}
