//! One piece of work for all who want its outcome at the same time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use tokio::task::JoinHandle;

/// `None` when the work panicked.
type Outcome<T> = Shared<BoxFuture<'static, Option<T>>>;

/// Work under way, by its key. Nothing is kept of work that ended.
pub struct Flights<T: Clone>(Arc<Mutex<HashMap<String, Outcome<T>>>>);

impl<T: Clone> Default for Flights<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T: Clone + Send + Sync + 'static> Flights<T> {
    /// The outcome of the work under way for `key`, or of the task that `start` makes. The task goes on when all who
    /// wait for it leave.
    pub fn join(&self, key: &str, start: impl FnOnce() -> JoinHandle<T>) -> Outcome<T> {
        let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(flight) = flights.get(key) {
            return flight.clone();
        }
        let task = start();
        let (all, key_of_task) = (Arc::clone(&self.0), key.to_owned());
        // A task of its own waits for the work, so that its entry goes whether or not anybody else does.
        let watched = tokio::spawn(async move {
            let outcome = task.await;
            all.lock().unwrap_or_else(PoisonError::into_inner).remove(&key_of_task);
            outcome.ok()
        });
        let flight = watched.map(|outcome| outcome.ok().flatten()).boxed().shared();
        flights.insert(key.to_owned(), flight.clone());
        flight
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn many_share_one_and_the_next_is_another() {
        let (flights, started, go) = (Flights::default(), Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
        let work = || {
            let (started, go) = (Arc::clone(&started), Arc::clone(&go));
            tokio::spawn(async move {
                let number = started.fetch_add(1, Ordering::SeqCst);
                go.notified().await;
                number
            })
        };
        let waiting: Vec<_> = (0..10).map(|_| flights.join("a", work)).collect();
        let other = flights.join("b", work);
        tokio::task::yield_now().await;
        go.notify_waiters();
        let outcomes = futures_util::future::join_all(waiting).await;
        assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]) && outcomes[0].is_some());
        assert_ne!(other.await, outcomes[0]);
        assert!(flights.0.lock().unwrap().is_empty(), "nothing is kept");
        let next = flights.join("a", || tokio::spawn(async { 7 }));
        assert_eq!(next.await, Some(7));
    }

    #[tokio::test]
    async fn work_goes_on_when_all_leave() {
        let flights = Flights::default();
        let done = Arc::new(Notify::new());
        let tell = Arc::clone(&done);
        drop(flights.join("a", || {
            tokio::spawn(async move {
                tokio::task::yield_now().await;
                tell.notify_one();
            })
        }));
        done.notified().await;
        while !flights.0.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_panic_is_an_outcome_and_blocks_nothing() {
        let flights: Flights<()> = Flights::default();
        let broken = flights.join("a", || tokio::spawn(async { panic!("as the test wants") }));
        assert_eq!(broken.await, None);
        assert_eq!(flights.join("a", || tokio::spawn(async {})).await, Some(()));
    }
}
