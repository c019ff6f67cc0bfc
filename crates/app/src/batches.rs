//! Batched writes of small rows: one transaction stores all that arrive while the previous one commits.
//!
//! A transaction costs the database about as much for twenty rows as for one, and each commit invalidates pages of the
//! database file that readers have cached.

use std::future::Future;
use std::sync::Arc;

use docstore::StoreError;
use ingest::Supervisor;
use tokio::sync::{Mutex, mpsc, oneshot};

use crate::error::{Error, Result};

/// Maximum number of queued items; further callers of `queue` and `write` wait for capacity.
const QUEUE: usize = 256;
/// Maximum number of items in one transaction.
const BATCH: usize = 64;

struct Waiting<T, R> {
    item: T,
    written: oneshot::Sender<Result<R, StoreError>>,
}

/// Writes items in the order of arrival.
pub struct Batches<T, R> {
    queue: mpsc::Sender<Waiting<T, R>>,
}

impl<T: Clone + Send + 'static, R: Send + 'static> Batches<T, R> {
    /// Starts the task `name`, which stops when all clones of the handle are dropped. `write` stores items in one
    /// transaction and returns one reply for each. Must be called on a runtime.
    pub fn start<W, F>(name: &'static str, supervisor: &Supervisor, write: W) -> Self
    where
        W: Fn(Vec<T>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<Vec<R>, StoreError>> + Send,
    {
        let (queue, waiting) = mpsc::channel(QUEUE);
        // Outlives a panic of the task, with the queued items.
        let waiting = Arc::new(Mutex::new(waiting));
        supervisor.spawn(name, move || {
            let (write, waiting) = (write.clone(), Arc::clone(&waiting));
            async move { run(&write, &mut *waiting.lock().await).await }
        });
        Self { queue }
    }

    /// Returns once the item is stored.
    pub async fn write(&self, item: T) -> Result<R> {
        self.queue(item).await?.written().await
    }

    /// Returns once the item is queued: from then on it is stored also if the caller leaves. Before, it is dropped with the future.
    pub async fn queue(&self, item: T) -> Result<Reply<R>> {
        let (written, outcome) = oneshot::channel();
        self.queue.send(Waiting { item, written }).await.map_err(|_| stopped())?;
        Ok(Reply(outcome))
    }

    /// Queues an item without waiting, unless the queue is full.
    pub fn offer(&self, item: T) {
        let (written, _) = oneshot::channel();
        let _ = self.queue.try_send(Waiting { item, written });
    }
}

/// Outcome of a queued item.
pub struct Reply<R>(oneshot::Receiver<Result<R, StoreError>>);

impl<R> Reply<R> {
    /// Returns once the item is stored.
    pub async fn written(self) -> Result<R> {
        Ok(self.0.await.map_err(|_| stopped())??)
    }
}

impl<T, R> Clone for Batches<T, R> {
    fn clone(&self) -> Self {
        Self { queue: self.queue.clone() }
    }
}

fn stopped() -> Error {
    Error::internal(std::io::Error::other("the writer of batches stopped"))
}

async fn run<T, R, F>(write: &impl Fn(Vec<T>) -> F, queue: &mut mpsc::Receiver<Waiting<T, R>>)
where
    T: Clone,
    F: Future<Output = Result<Vec<R>, StoreError>>,
{
    let mut batch = Vec::with_capacity(BATCH);
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        let mut together = write(items(&batch)).await;
        // The transaction that stood in the way may have ended. One by one, each item might wait as long.
        if matches!(together, Err(StoreError::Aborted(_))) {
            together = write(items(&batch)).await;
        }
        // The callers may have left; their items are stored regardless.
        match together {
            Ok(replies) => {
                for (one, reply) in batch.drain(..).zip(replies) {
                    let _ = one.written.send(Ok(reply));
                }
            }
            Err(StoreError::Unavailable(why)) => fail(&mut batch, StoreError::Unavailable, &why),
            Err(StoreError::Aborted(why)) => fail(&mut batch, StoreError::Aborted, &why),
            // An item that cannot be stored must not fail the others.
            Err(_) => {
                for one in batch.drain(..) {
                    let alone = write(vec![one.item]).await;
                    let reply = alone.and_then(|replies| replies.into_iter().next().ok_or_else(no_reply));
                    let _ = one.written.send(reply);
                }
            }
        }
    }
}

fn items<T: Clone, R>(batch: &[Waiting<T, R>]) -> Vec<T> {
    batch.iter().map(|one| one.item.clone()).collect()
}

/// Replies to all with the same error.
fn fail<T, R>(batch: &mut Vec<Waiting<T, R>>, error: fn(String) -> StoreError, why: &str) {
    for one in batch.drain(..) {
        let _ = one.written.send(Err(error(why.to_owned())));
    }
}

fn no_reply() -> StoreError {
    StoreError::Interrupted("a batch ended without a reply".into())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::sync::{Mutex, PoisonError};
    use std::time::Duration;

    use tokio::sync::watch;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_is_queued_is_stored_and_what_finds_no_room_is_not() {
        let (release, released) = watch::channel(false);
        let stored = Arc::new(Mutex::new(Vec::new()));
        let batches = Batches::start("test", &Supervisor::default(), {
            let stored = Arc::clone(&stored);
            move |items: Vec<usize>| {
                let (stored, mut released) = (Arc::clone(&stored), released.clone());
                async move {
                    let _ = released.wait_for(|released| *released).await;
                    let replies = vec![(); items.len()];
                    stored.lock().unwrap_or_else(PoisonError::into_inner).extend(items);
                    Ok(replies)
                }
            }
        });
        let mut replies = Vec::new();
        while let Ok(queued) = timeout(Duration::from_secs(1), batches.queue(replies.len())).await {
            replies.push(queued.unwrap());
        }
        let queued = replies.len();
        assert!((QUEUE..=QUEUE + BATCH).contains(&queued), "{queued}");
        let last = replies.pop().unwrap();
        assert!(timeout(Duration::from_secs(1), last.written()).await.is_err(), "it is not stored yet");
        // The callers leave.
        drop(replies);
        release.send_replace(true);
        batches.write(queued + 1).await.unwrap();
        let expected: Vec<usize> = (0..queued).chain([queued + 1]).collect();
        assert_eq!(*stored.lock().unwrap(), expected);
    }

    #[tokio::test]
    async fn aborted_batch_is_repeated_once_as_a_whole() {
        for (aborts, is_stored) in [(1, true), (usize::MAX, false)] {
            let sizes = Arc::new(Mutex::new(Vec::new()));
            let batches = Batches::start("test", &Supervisor::default(), {
                let sizes = Arc::clone(&sizes);
                move |items: Vec<usize>| {
                    let mut sizes = sizes.lock().unwrap_or_else(PoisonError::into_inner);
                    sizes.push(items.len());
                    let is_aborted = sizes.len() <= aborts;
                    async move {
                        if is_aborted {
                            return Err(StoreError::Aborted("deadlock detected".to_owned()));
                        }
                        Ok(vec![(); items.len()])
                    }
                }
            });
            // The writer runs once this task waits for it.
            let mut replies = Vec::new();
            for item in 0..3 {
                replies.push(batches.queue(item).await.unwrap());
            }
            for reply in replies {
                match reply.written().await {
                    Ok(()) => assert!(is_stored),
                    Err(error) => assert!(!is_stored && error.is_database_outage(), "{error:?}"),
                }
            }
            assert_eq!(*sizes.lock().unwrap(), [3, 3], "{aborts}");
        }
    }
}
