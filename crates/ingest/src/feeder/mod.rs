//! Feeder of the search indexes from the outbox: at least once, in batches, idempotently.
//!
//! An outbox entry only says that a document changed. The feeder reads the current content from the docstore, so entries may
//! arrive twice, late or out of order and the index still converges. Each batch has entries of all organizations that wait.

mod apply;
mod batch;
mod catch_up;
mod drain;
mod generations;
mod lease;
mod long;
mod read;
mod restore;
mod settle;
mod terms;
mod vectors;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use docstore::{Docstore, StoreError};
use engine::{EngineError, EngineErrorKind, SearchEngine};
use model::{Clock, IndexName, OrganizationId};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Time to gather entries after a pass, unless `flush_now` is notified. Each batch costs the index a commit and later a share
/// of merging, however small it is.
const GATHER: Duration = Duration::from_secs(2);
/// Interval at which an idle feeder polls for entries of other processes.
const IDLE_POLL: Duration = Duration::from_millis(100);
const MIN_BACKOFF: Duration = Duration::from_millis(250);
const MAX_BACKOFF: Duration = Duration::from_secs(10);
/// Interval of checks for lost indexes.
const RESTORE_POLL: Duration = Duration::from_secs(5);

/// Mechanism that keeps two processes from feeding the same index.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ownership {
    /// Only this process can write the index: an embedded one, protected by its file lock.
    Exclusive,
    /// Processes share the index and take turns by a lease in the docstore.
    Leased,
}

#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("another process holds the lease of the `{0}` index")]
    LeaseLost(IndexName),
    /// The database and the index are of different times.
    #[error("the database does not know the state of the `{0}` index")]
    UnknownGeneration(IndexName),
    #[error("the index did not catch up within {0:?}")]
    Timeout(Duration),
}

impl FeedError {
    fn calls_for_rebuild(&self) -> bool {
        match self {
            FeedError::Engine(error) => error.kind == EngineErrorKind::Corrupt,
            FeedError::UnknownGeneration(_) => true,
            FeedError::Store(_) | FeedError::LeaseLost(_) | FeedError::Timeout(_) => false,
        }
    }
}

/// Applies outbox entries to the indexes of one engine.
pub struct Feeder {
    store: Docstore,
    engine: Arc<dyn SearchEngine>,
    ownership: Ownership,
    clock: Arc<dyn Clock>,
    /// Name of this process in leases.
    owner: String,
    /// Batches that ended in an error, until it is known that no other process took over meanwhile.
    unsettled: Mutex<Vec<settle::Sent>>,
    wake: Notify,
    /// Ends the gathering of entries early: a caller waits for the index.
    flush_now: Notify,
}

/// Makes the counters known to the first scrape.
pub fn register_metrics() {
    IndexName::ALL.iter().for_each(|index| apply::count_indexed(*index, 0));
}

impl Feeder {
    pub fn new(store: Docstore, engine: Arc<dyn SearchEngine>, ownership: Ownership, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            engine,
            ownership,
            clock,
            owner: Uuid::new_v4().to_string(),
            unsettled: Mutex::default(),
            wake: Notify::new(),
            flush_now: Notify::new(),
        }
    }

    /// Wakes an idle feeder, because the outbox may have new entries.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Feeds the indexes until `stop`, then releases their leases. Failures are logged and retried with back-off; only
    /// documents that the engine rejects are skipped.
    pub async fn work(&self, stop: CancellationToken) {
        self.feed_until(&stop).await;
        if let Err(error) = self.release_leases().await {
            tracing::warn!(error = &error as &dyn std::error::Error, "releasing the leases of the indexes failed");
        }
    }

    async fn feed_until(&self, stop: &CancellationToken) {
        let mut backoff = MIN_BACKOFF;
        let mut restored: Option<Instant> = None;
        while !stop.is_cancelled() {
            match self.restore_and_drain(&mut restored, stop).await {
                Ok(0) => backoff = MIN_BACKOFF,
                Ok(_) => {
                    tokio::select! {
                        () = stop.cancelled() => return,
                        () = self.flush_now.notified() => {}
                        () = tokio::time::sleep(GATHER) => {}
                    }
                    continue;
                }
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "feeding the index failed, retrying");
                    let pause = backoff;
                    backoff = (backoff * 2).min(MAX_BACKOFF);
                    // Ignores `wake`, which would turn the back-off into a busy loop.
                    tokio::select! { () = stop.cancelled() => return, () = tokio::time::sleep(pause) => continue }
                }
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.wake.notified() => {}
                () = tokio::time::sleep(IDLE_POLL) => {}
            }
        }
    }

    async fn restore_and_drain(
        &self,
        restored: &mut Option<Instant>,
        stop: &CancellationToken,
    ) -> Result<usize, FeedError> {
        if restored.is_none_or(|at| at.elapsed() >= RESTORE_POLL) {
            self.restore().await?;
            *restored = Some(Instant::now());
        }
        let drained = self.drain_all_until(stop).await;
        if drained.as_ref().is_err_and(FeedError::calls_for_rebuild) {
            *restored = None;
        }
        drained
    }

    /// Starts a pass at once and waits until the index has the organization's entries up to `newest`, whichever process feeds it.
    ///
    /// # Errors
    /// `Timeout` if the organization's entries make no progress for `patience`.
    pub async fn wait_until_indexed_for(
        &self,
        organization_id: OrganizationId,
        newest: i64,
        patience: Duration,
    ) -> Result<(), FeedError> {
        self.flush_now.notify_one();
        self.wake();
        let bounds = || self.store.outbox_bounds_of(IndexName::Workspace, organization_id);
        wait_until_past(bounds, newest, Timeout::WithoutProgress(patience)).await
    }
}

/// Waits until every outbox entry up to `newest` has reached the index, whichever process feeds it.
///
/// # Errors
/// `Timeout` if that takes longer than `timeout`.
pub async fn wait_until_indexed(
    store: &Docstore,
    index: IndexName,
    newest: i64,
    timeout: Duration,
) -> Result<(), FeedError> {
    wait_until_past(|| store.outbox_bounds(index), newest, Timeout::Total(timeout)).await
}

/// Time that a wait for the index may take.
#[derive(Clone, Copy)]
enum Timeout {
    /// For the whole wait.
    Total(Duration),
    /// Since the last progress: a rebuild of a large index may take hours.
    WithoutProgress(Duration),
}

/// Waits until the lowest pending id exceeds `newest`.
async fn wait_until_past<F>(bounds: impl Fn() -> F, newest: i64, timeout: Timeout) -> Result<(), FeedError>
where
    F: Future<Output = docstore::Result<Option<(i64, i64)>>>,
{
    let (Timeout::Total(longest) | Timeout::WithoutProgress(longest)) = timeout;
    let mut started = tokio::time::Instant::now();
    let mut last = None;
    let mut pause = Duration::from_millis(2);
    loop {
        let oldest = match bounds().await? {
            Some((oldest, _)) if oldest <= newest => oldest,
            Some(_) | None => return Ok(()),
        };
        if matches!(timeout, Timeout::WithoutProgress(_)) && last != Some(oldest) {
            last = Some(oldest);
            started = tokio::time::Instant::now();
        }
        if started.elapsed() > longest {
            return Err(FeedError::Timeout(longest));
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    /// Waits for 40 entries, one of which reaches the index at each look: more than a second.
    async fn wait_for_forty(timeout: Timeout) -> Result<(), FeedError> {
        let oldest = AtomicI64::new(0);
        let bounds = || std::future::ready(Ok(Some((oldest.fetch_add(1, Ordering::SeqCst), 100))));
        wait_until_past(bounds, 40, timeout).await
    }

    #[tokio::test]
    async fn wait_outlasts_its_timeout_while_the_index_makes_progress() {
        let timeout = Duration::from_millis(500);
        assert!(wait_for_forty(Timeout::WithoutProgress(timeout)).await.is_ok());
        assert!(matches!(wait_for_forty(Timeout::Total(timeout)).await, Err(FeedError::Timeout(_))));
        let stalled = || std::future::ready(Ok(Some((1, 100))));
        let waited = wait_until_past(stalled, 40, Timeout::WithoutProgress(timeout)).await;
        assert!(matches!(waited, Err(FeedError::Timeout(_))));
    }
}
