//! Single flight: concurrent callers with the same key share one task, which stops when the last one leaves.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use tokio::task::{AbortHandle, JoinHandle};

/// Outcome of a task; `None` if it panicked.
type Outcome<T> = Shared<BoxFuture<'static, Option<T>>>;

/// Running tasks by key. Outcomes are not cached.
pub struct SingleFlight<K, T: Clone>(Arc<Mutex<Flights<K, T>>>);

struct Flights<K, T: Clone> {
    running: HashMap<K, Flight<T>>,
    /// Number of tasks so far.
    started: u64,
}

struct Flight<T: Clone> {
    /// Tells a task from a later one with the same key.
    number: u64,
    outcome: Outcome<T>,
    task: AbortHandle,
    waiting: usize,
}

/// A caller that waits for a task. Dropping it leaves the task, which stops if nobody else waits.
pub struct Waiter<K: Eq + Hash, T: Clone> {
    flights: Arc<Mutex<Flights<K, T>>>,
    key: K,
    number: u64,
    outcome: Outcome<T>,
}

impl<K, T: Clone> Default for SingleFlight<K, T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Flights { running: HashMap::new(), started: 0 })))
    }
}

impl<K: Clone + Eq + Hash + Send + 'static, T: Clone + Send + Sync + 'static> SingleFlight<K, T> {
    /// Joins the running task for `key`; `None` if there is none.
    pub fn find(&self, key: &K) -> Option<Waiter<K, T>> {
        let mut flights = lock(&self.0);
        let flight = flights.running.get_mut(key)?;
        Some(self.waiter(key, flight))
    }

    /// Joins the running task for `key`, or a new one from `start`.
    pub fn join(&self, key: &K, start: impl FnOnce() -> JoinHandle<T>) -> Waiter<K, T> {
        let mut flights = lock(&self.0);
        if let Some(flight) = flights.running.get_mut(key) {
            return self.waiter(key, flight);
        }
        flights.started += 1;
        let number = flights.started;
        let task = start();
        let abort = task.abort_handle();
        let (all, task_key) = (Arc::clone(&self.0), key.clone());
        // A separate task removes the entry, even if no caller polls the outcome.
        let watched = tokio::spawn(async move {
            let outcome = task.await;
            lock(&all).remove(&task_key, number);
            outcome.ok()
        });
        let outcome = watched.map(|outcome| outcome.ok().flatten()).boxed().shared();
        let mut flight = Flight { number, outcome, task: abort, waiting: 0 };
        let waiter = self.waiter(key, &mut flight);
        flights.running.insert(key.clone(), flight);
        waiter
    }

    fn waiter(&self, key: &K, flight: &mut Flight<T>) -> Waiter<K, T> {
        flight.waiting += 1;
        let (number, outcome) = (flight.number, flight.outcome.clone());
        Waiter { flights: Arc::clone(&self.0), key: key.clone(), number, outcome }
    }
}

impl<K: Eq + Hash, T: Clone> Waiter<K, T> {
    /// Returns the outcome of the task; `None` if it panicked.
    pub async fn outcome(self) -> Option<T> {
        self.outcome.clone().await
    }
}

impl<K: Eq + Hash, T: Clone> Drop for Waiter<K, T> {
    fn drop(&mut self) {
        let mut flights = lock(&self.flights);
        let Some(flight) = flights.running.get_mut(&self.key).filter(|flight| flight.number == self.number) else {
            return;
        };
        flight.waiting -= 1;
        if flight.waiting == 0 {
            flight.task.abort();
            // Later callers start a new task, also before this one has ended.
            flights.running.remove(&self.key);
        }
    }
}

impl<K: Eq + Hash, T: Clone> Flights<K, T> {
    fn remove(&mut self, key: &K, number: u64) {
        if self.running.get(key).is_some_and(|flight| flight.number == number) {
            self.running.remove(key);
        }
    }
}

fn lock<K, T: Clone>(flights: &Mutex<Flights<K, T>>) -> MutexGuard<'_, Flights<K, T>> {
    flights.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::{Notify, oneshot};

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
        assert!(flight.find(&"a").is_some() && flight.find(&"c").is_none());
        tokio::task::yield_now().await;
        go.notify_waiters();
        let outcomes = futures_util::future::join_all(waiting.into_iter().map(Waiter::outcome)).await;
        assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]) && outcomes[0].is_some());
        assert_ne!(other.outcome().await, outcomes[0]);
        assert!(lock(&flight.0).running.is_empty(), "ended tasks are removed");
        let next = flight.join(&"a", || tokio::spawn(async { 7 }));
        assert_eq!(next.outcome().await, Some(7));
    }

    /// Reports the end of its task, however it ends.
    struct Ended(Option<oneshot::Sender<()>>);

    impl Drop for Ended {
        fn drop(&mut self) {
            let _ = self.0.take().map(|ended| ended.send(()));
        }
    }

    #[tokio::test]
    async fn task_stops_when_the_last_caller_leaves() {
        let flight: SingleFlight<&str, ()> = SingleFlight::default();
        let (ended, mut end) = oneshot::channel();
        let first = flight.join(&"a", || {
            let ended = Ended(Some(ended));
            tokio::spawn(async move {
                std::future::pending::<()>().await;
                drop(ended);
            })
        });
        let second = flight.find(&"a").unwrap();
        drop(first);
        tokio::task::yield_now().await;
        assert!(end.try_recv().is_err(), "a caller still waits");
        drop(second);
        end.await.unwrap();
        let next = flight.join(&"a", || tokio::spawn(async {}));
        assert_eq!(next.outcome().await, Some(()), "a new task");
    }

    #[tokio::test]
    async fn panic_is_an_outcome_and_does_not_block_later_tasks() {
        let flight: SingleFlight<&str, ()> = SingleFlight::default();
        let panicking = flight.join(&"a", || tokio::spawn(async { panic!("expected by the test") }));
        assert_eq!(panicking.outcome().await, None);
        assert_eq!(flight.join(&"a", || tokio::spawn(async {})).outcome().await, Some(()));
    }
}
