//! Feeder of the search indexes from the outbox: at least once, in batches, idempotently.
//!
//! An outbox entry only says that a document changed. The feeder reads the current content from the docstore, so entries may
//! arrive twice, late or out of order and the index still converges. Each batch has entries of all organizations that wait.

mod apply;
mod batch;
mod catch_up;
mod generations;
mod long;
mod terms;
mod turns;
mod vectors;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use docstore::{Capture, Docstore, Document, OutboxWork, StoreError};
use engine::{EngineError, EngineErrorKind, SearchEngine};
use model::{Clock, DocId, IndexName, OrganizationId};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::rebuild;
use batch::{Batch, index_document};
use terms::Terms;
use vectors::{Found, Vectors};

/// Maximum outbox entries per batch. Indexes take one large batch in far less time than many small ones.
const ENTRIES: i64 = 10_000;
/// Documents read from the docstore at a time.
const DOCUMENTS_PER_READ: usize = 64;
/// Maximum text per batch in bytes: about the memory that a batch takes.
const BATCH_BYTES: usize = 16 << 20;
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

    /// Queues a rebuild of all indexes that are new, lost, damaged, of another version, or of another time than the database.
    pub async fn restore(&self) -> Result<(), FeedError> {
        let mut lost = Vec::new();
        for index in self.engine.needs_rebuild().await? {
            if self.acquire_lease(index).await? {
                lost.push(index);
            }
        }
        for index in &lost {
            self.queue_all(*index, "new, lost, damaged or of another version").await?;
        }
        // The outbox now holds all the work, so a restart resumes the rebuild.
        if !lost.is_empty() {
            self.engine.mark_rebuilt(&lost).await?;
        }
        for index in &lost {
            self.adopt_generation(*index).await?;
        }
        for index in IndexName::ALL {
            if !self.is_of_another_time(*index).await? || !self.acquire_lease(*index).await? {
                continue;
            }
            // Once more under the lease: a batch of another process may have been between its steps.
            if self.is_of_another_time(*index).await? {
                self.queue_all(*index, "of another time than the database").await?;
                self.adopt_generation(*index).await?;
            }
        }
        Ok(())
    }

    async fn queue_all(&self, index: IndexName, reason: &str) -> Result<(), FeedError> {
        let documents = rebuild::queue_all(&self.store, index, self.clock.as_ref(), |_| {}).await?;
        // A new index for a new database is not worth a warning.
        if documents > 0 {
            tracing::warn!(index = index.as_str(), documents, reason, "rebuilding the index from the database");
        }
        Ok(())
    }

    /// Drains the outbox of every index. Returns the number of entries.
    pub async fn drain_all(&self) -> Result<usize, FeedError> {
        self.drain_all_until(&CancellationToken::new()).await
    }

    /// Drains all indexes in turn, one batch at a time: none waits for the whole backlog of another.
    async fn drain_all_until(&self, stop: &CancellationToken) -> Result<usize, FeedError> {
        self.drain_in_turn(IndexName::ALL.to_vec(), stop).await
    }

    /// Drains the outbox of one index. Returns the number of entries; 0 if another process holds the lease.
    pub async fn drain(&self, index: IndexName) -> Result<usize, FeedError> {
        self.drain_in_turn(vec![index], &CancellationToken::new()).await
    }

    async fn drain_in_turn(&self, mut indexes: Vec<IndexName>, stop: &CancellationToken) -> Result<usize, FeedError> {
        let mut drained = 0;
        while !indexes.is_empty() && !stop.is_cancelled() {
            for index in std::mem::take(&mut indexes) {
                let Some(batch) = self.feed_batch(index).await? else { continue };
                drained += batch.entries;
                if !batch.was_all {
                    indexes.push(index);
                }
            }
        }
        Ok(drained)
    }

    /// Feeds one batch. `None` if there is nothing to do, or if another process does it.
    async fn feed_batch(&self, index: IndexName) -> Result<Option<Fed>, FeedError> {
        let pending = self.store.pending_outbox(index, ENTRIES).await?;
        if pending.is_empty() || !self.acquire_lease(index).await? {
            return Ok(None);
        }
        // Entries added meanwhile wait for the next pass: a run that keeps writing would be indexed in many tiny batches.
        let is_last = pending.len() < ENTRIES as usize;
        let (mut clears, mut documents) = (Vec::new(), Vec::with_capacity(pending.len()));
        for entry in turns::in_turn(pending) {
            match entry.work {
                OutboxWork::Document(doc_id) => documents.push((entry.id, doc_id)),
                OutboxWork::ClearIndex => clears.push(entry.id),
            }
        }
        let cleared = clears.len();
        self.clear(index, clears).await?;
        let fed = self.feed_documents(index, &documents).await?;
        Ok(Some(Fed { entries: cleared + fed, was_all: is_last && fed == documents.len() }))
    }

    /// Clears an index for a rebuild. Documents that were queued before are fed afterwards, with their current content.
    async fn clear(&self, index: IndexName, entries: Vec<i64>) -> Result<(), FeedError> {
        if entries.is_empty() {
            return Ok(());
        }
        tracing::debug!(index = index.as_str(), "clearing the index for a rebuild");
        let generation = self.start_generation(index).await?;
        self.engine.clear(index).await?;
        self.store.complete_generation(index, generation, entries, Vec::new(), self.clock.now()).await?;
        Ok(())
    }

    /// Starts a pass at once and waits until the index has the organization's entries up to `newest`, whichever process feeds it.
    ///
    /// # Errors
    /// `Timeout` if that takes longer than `timeout`.
    pub async fn wait_until_indexed_for(
        &self,
        organization_id: OrganizationId,
        newest: i64,
        timeout: Duration,
    ) -> Result<(), FeedError> {
        self.flush_now.notify_one();
        self.wake();
        let bounds = || self.store.outbox_bounds_of(IndexName::Workspace, organization_id);
        wait_until_past(bounds, newest, timeout).await
    }

    /// Feeds documents, given as pairs of entry id and document id, until a batch is full. Returns the number of entries.
    async fn feed_documents(&self, index: IndexName, entries: &[(i64, DocId)]) -> Result<usize, FeedError> {
        let model = self.store.find_index_model(index).await?.model;
        let mut batch = Batch::default();
        let mut terms = Terms::new(&self.store);
        let mut seen = HashSet::new();
        'chunks: for chunk in entries.chunks(DOCUMENTS_PER_READ) {
            let doc_ids: Vec<DocId> =
                chunk.iter().map(|(_, doc_id)| *doc_id).filter(|doc_id| !seen.contains(doc_id)).collect();
            let loaded = self.store.load_for_indexing(doc_ids).await?;
            terms.look_up(&loaded).await;
            let mut vectors = Vectors::new(&self.store, model.as_deref(), &loaded);
            let mut loaded: HashMap<DocId, (Document, Capture)> =
                loaded.into_iter().map(|(document, capture)| (document.doc_id, (document, capture))).collect();
            // In the order of the entries, so that the same outbox produces the same index.
            for (entry_id, doc_id) in chunk {
                batch.entries.push(*entry_id);
                if !seen.insert(*doc_id) {
                    continue;
                }
                match loaded.remove(doc_id) {
                    Some((document, capture)) => {
                        let vectors = match vectors.take(capture.capture_id).await? {
                            Found::Vectors(vectors) => Some(vectors),
                            Found::Nothing => None,
                            Found::Unembedded => {
                                batch.unembedded.push(*doc_id);
                                None
                            }
                        };
                        let capture = long::whole(&self.store, &document, capture).await?;
                        terms.add(&document, &capture);
                        batch.put(index_document(document, capture, vectors));
                    }
                    None => batch.remove(*doc_id),
                }
                // Also within a chunk: contents may be long.
                if batch.bytes >= BATCH_BYTES {
                    break 'chunks;
                }
            }
            terms.store().await;
        }
        terms.store().await;
        let fed = batch.entries.len();
        let flushed = self.flush(index, batch).await;
        terms.finish().await;
        flushed.map(|()| fed)
    }
}

/// Result of feeding a batch.
struct Fed {
    entries: usize,
    /// True if the batch had all entries that were pending.
    was_all: bool,
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
    wait_until_past(|| store.outbox_bounds(index), newest, timeout).await
}

/// Waits until the lowest pending id exceeds `newest`.
async fn wait_until_past<F>(bounds: impl Fn() -> F, newest: i64, timeout: Duration) -> Result<(), FeedError>
where
    F: Future<Output = docstore::Result<Option<(i64, i64)>>>,
{
    let started = tokio::time::Instant::now();
    let mut pause = Duration::from_millis(2);
    loop {
        match bounds().await? {
            Some((oldest, _)) if oldest <= newest => {}
            _ => return Ok(()),
        }
        if started.elapsed() > timeout {
            return Err(FeedError::Timeout(timeout));
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}
