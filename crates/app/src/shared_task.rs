//! Task that concurrent callers share, with an outcome that later ones share for a time.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use model::Timestamp;

/// The last task of its kind. It runs to its end even if all callers leave.
pub(crate) struct SharedTask<T: Clone>(Mutex<Option<Started<T>>>);

/// A task that was started.
#[derive(Clone)]
pub(crate) struct Started<T: Clone> {
    pub at: Timestamp,
    pub outcome: Shared<BoxFuture<'static, T>>,
}

impl<T: Clone> Default for SharedTask<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone + Send + Sync + 'static> SharedTask<T> {
    /// Returns the task in progress, the last one for the `lifetime` of its outcome, or else a new one from `start`. Must be called
    /// on a runtime.
    pub fn join(
        &self,
        now: Timestamp,
        lifetime: impl Fn(&T) -> Duration,
        start: impl FnOnce() -> BoxFuture<'static, T>,
    ) -> Started<T> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(started) = &*last {
            // After the clock was set back, an outcome from the future counts as expired.
            let is_recent = |outcome: &T| (started.at..started.at + lifetime(outcome)).contains(&now);
            if started.outcome.peek().is_none_or(is_recent) {
                return started.clone();
            }
        }
        let started = Started { at: now, outcome: start().shared() };
        tokio::spawn(started.outcome.clone());
        last.insert(started).clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::sync::Semaphore;

    use super::*;

    /// A shared task that waits for its release, and returns the number of tasks before it.
    struct Numbered {
        task: SharedTask<u32>,
        started: Arc<AtomicU32>,
        released: Arc<Semaphore>,
    }

    impl Numbered {
        fn new(released: usize) -> Self {
            Self { task: SharedTask::default(), started: Arc::default(), released: Arc::new(Semaphore::new(released)) }
        }

        /// Joins at this second. Outcomes live for a minute.
        fn join(&self, second: i64) -> Started<u32> {
            let (started, released) = (Arc::clone(&self.started), Arc::clone(&self.released));
            let start = || {
                let work = async move {
                    let number = started.fetch_add(1, Ordering::SeqCst);
                    if let Ok(permit) = released.acquire().await {
                        permit.forget();
                    }
                    number
                };
                work.boxed()
            };
            self.task.join(Timestamp::from_millis(second * 1_000), |_| Duration::from_secs(60), start)
        }
    }

    #[tokio::test]
    async fn task_ends_although_its_callers_leave() {
        let numbered = Numbered::new(0);
        drop(numbered.join(0));
        let late = numbered.join(1_000);
        assert_eq!(late.at, Timestamp::UNIX_EPOCH, "it is still in progress");
        drop(late);
        numbered.released.add_permits(1);
        while numbered.join(1).outcome.peek().is_none() {
            tokio::task::yield_now().await;
        }
        assert_eq!((numbered.join(59).outcome.await, numbered.started.load(Ordering::SeqCst)), (0, 1));
    }

    #[tokio::test]
    async fn outcome_expires_also_when_the_clock_is_set_back() {
        let numbered = Numbered::new(10);
        for (second, expected) in [(100, 0), (159, 0), (160, 1), (159, 2), (218, 2)] {
            assert_eq!(numbered.join(second).outcome.await, expected, "{second}");
        }
    }
}
