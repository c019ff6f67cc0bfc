//! Single flight: concurrent callers with the same key share one task.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use tokio::task::JoinHandle;

/// Outcome of a task; `None` if it panicked.
type Outcome<T> = Shared<BoxFuture<'static, Option<T>>>;

/// Running tasks by key. Outcomes are not cached.
pub struct SingleFlight<K, T: Clone>(Arc<Mutex<HashMap<K, Outcome<T>>>>);

impl<K, T: Clone> Default for SingleFlight<K, T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K: Clone + Eq + Hash + Send + 'static, T: Clone + Send + Sync + 'static> SingleFlight<K, T> {
    /// Returns the outcome of the running task for `key`, or of a new one from `start`. The task continues even if all callers
    /// drop the outcome.
    pub fn join(&self, key: &K, start: impl FnOnce() -> JoinHandle<T>) -> Outcome<T> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(outcome) = running.get(key) {
            return outcome.clone();
        }
        let task = start();
        let (tasks, task_key) = (Arc::clone(&self.0), key.clone());
        // A separate task removes the entry, even if no caller polls the outcome.
        let watched = tokio::spawn(async move {
            let outcome = task.await;
            tasks.lock().unwrap_or_else(PoisonError::into_inner).remove(&task_key);
            outcome.ok()
        });
        let outcome = watched.map(|outcome| outcome.ok().flatten()).boxed().shared();
        running.insert(key.clone(), outcome.clone());
        outcome
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn concurrent_callers_share_one_task_and_later_ones_start_another() {
        let (flight, started, go) = (SingleFlight::default(), Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
        let work = || {
            let (started, go) = (Arc::clone(&started), Arc::clone(&go));
            tokio::spawn(async move {
                let number = started.fetch_add(1, Ordering::SeqCst);
                go.notified().await;
                number
            })
        };
        let waiting: Vec<_> = (0..10).map(|_| flight.join(&"a", work)).collect();
        let other = flight.join(&"b", work);
        tokio::task::yield_now().await;
        go.notify_waiters();
        let outcomes = futures_util::future::join_all(waiting).await;
        assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]) && outcomes[0].is_some());
        assert_ne!(other.await, outcomes[0]);
        assert!(flight.0.lock().unwrap().is_empty(), "ended tasks are removed");
        let next = flight.join(&"a", || tokio::spawn(async { 7 }));
        assert_eq!(next.await, Some(7));
    }

    #[tokio::test]
    async fn task_continues_without_callers() {
        let flight = SingleFlight::default();
        let done = Arc::new(Notify::new());
        let finished = Arc::clone(&done);
        drop(flight.join(&"a", || {
            tokio::spawn(async move {
                tokio::task::yield_now().await;
                finished.notify_one();
            })
        }));
        done.notified().await;
        while !flight.0.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn panic_is_an_outcome_and_does_not_block_later_tasks() {
        let flight: SingleFlight<&str, ()> = SingleFlight::default();
        let panicking = flight.join(&"a", || tokio::spawn(async { panic!("expected by the test") }));
        assert_eq!(panicking.await, None);
        assert_eq!(flight.join(&"a", || tokio::spawn(async {})).await, Some(()));
    }
}
