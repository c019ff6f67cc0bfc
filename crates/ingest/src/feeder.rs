//! The outbox to the indexes: at least once, in batches, idempotently.
//!
//! An entry says only that a document changed. What the index gets is read from the docstore when the entry
//! is worked off, so that entries may come twice, late or out of order and the index still ends up right.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use docstore::{Capture, Docstore, Document, OutboxEntry, OutboxWork, StoreError};
use engine::{Change, EngineError, EngineErrorKind, IndexDocument, SearchEngine};
use model::{Clock, DocId, IndexName};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::rebuild;

/// Entries looked at together. Indexes take many documents at once in far less time than as many small batches.
const ENTRIES: i64 = 10_000;
/// Documents read from the docstore together.
const DOCUMENTS_AT_ONCE: usize = 64;
/// Text handed to the engine together, in bytes: a batch costs about this much memory.
const BATCH_BYTES: usize = 16 << 20;
/// How long a feeder that has just worked lets more gather, unless somebody waits: each batch costs the index a commit,
/// and later its share of merging, however small it is.
const GATHER: Duration = Duration::from_secs(2);
/// How long an idle feeder waits before it looks for entries that other processes wrote.
const IDLE_POLL: Duration = Duration::from_millis(100);
const LEASE: Duration = Duration::from_secs(15);
const RETRY_FIRST: Duration = Duration::from_millis(250);
const RETRY_MOST: Duration = Duration::from_secs(10);
/// How often a feeder looks whether an index is lost.
const RESTORE_POLL: Duration = Duration::from_secs(5);

/// Why nobody else works on the same outbox.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ownership {
    /// This process alone can write the index (an embedded one, by its file lock).
    Exclusive,
    /// Any process may: they take turns by a lease in the docstore.
    Leased,
}

#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("another process feeds the `{0}` index now")]
    LeaseLost(IndexName),
    #[error("the index did not catch up within {0:?}")]
    TooSlow(Duration),
}

pub struct Feeder {
    store: Docstore,
    engine: Arc<dyn SearchEngine>,
    ownership: Ownership,
    clock: Arc<dyn Clock>,
    /// Names this process in leases.
    owner: String,
    wake: Notify,
    /// Somebody waits for what is in the outbox now.
    hurry: Notify,
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
            hurry: Notify::new(),
        }
    }

    /// There may be new entries: look now.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Works until `stop`. Failures are logged and tried again; nothing is given up but a document that the
    /// engine refuses by itself.
    pub async fn work(&self, stop: CancellationToken) {
        let mut retry = RETRY_FIRST;
        let mut restored: Option<Instant> = None;
        while !stop.is_cancelled() {
            let pause = match self.restore_and_drain(&mut restored).await {
                Ok(0) => {
                    retry = RETRY_FIRST;
                    IDLE_POLL
                }
                Ok(_) => {
                    tokio::select! {
                        () = stop.cancelled() => return,
                        () = self.hurry.notified() => {}
                        () = tokio::time::sleep(GATHER) => {}
                    }
                    continue;
                }
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "feeding the index failed, trying again");
                    let pause = retry;
                    retry = (retry * 2).min(RETRY_MOST);
                    // A wake-up must not turn the waiting into a busy loop.
                    tokio::select! { () = stop.cancelled() => return, () = tokio::time::sleep(pause) => continue }
                }
            };
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.wake.notified() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    async fn restore_and_drain(&self, restored: &mut Option<Instant>) -> Result<usize, FeedError> {
        if restored.is_none_or(|at| at.elapsed() >= RESTORE_POLL) {
            self.restore().await?;
            *restored = Some(Instant::now());
        }
        let drained = self.drain_all().await;
        if let Err(FeedError::Engine(error)) = &drained
            && error.kind == EngineErrorKind::Corrupt
        {
            *restored = None;
        }
        drained
    }

    /// Queues all documents for indexes that are new, lost, damaged or of another version.
    pub async fn restore(&self) -> Result<(), FeedError> {
        let mut lost = Vec::new();
        for index in self.engine.needs_rebuild().await? {
            if self.hold(index).await? {
                lost.push(index);
            }
        }
        if lost.is_empty() {
            return Ok(());
        }
        for index in &lost {
            let documents = rebuild::queue_all(&self.store, *index, self.clock.as_ref(), |_| {}).await?;
            // A new index beside a new database is no event.
            if documents > 0 {
                tracing::warn!(index = index.as_str(), documents, "the index is made anew from the database");
            }
        }
        // From here on the outbox remembers.
        Ok(self.engine.mark_rebuilt(&lost).await?)
    }

    /// Works off what is there now, of both indexes. Returns how many entries.
    pub async fn drain_all(&self) -> Result<usize, FeedError> {
        let mut drained = 0;
        for index in IndexName::ALL {
            drained += self.drain(*index).await?;
        }
        Ok(drained)
    }

    /// Works off what is there now, of one index.
    pub async fn drain(&self, index: IndexName) -> Result<usize, FeedError> {
        let mut drained = 0;
        loop {
            let entries = self.store.pending_outbox(index, ENTRIES).await?;
            if entries.is_empty() || !self.hold(index).await? {
                return Ok(drained);
            }
            drained += entries.len();
            // What came meanwhile is not for this time: a run that writes on and on would have it fed in crumbs.
            let was_all = entries.len() < ENTRIES as usize;
            self.feed(index, entries).await?;
            if was_all {
                return Ok(drained);
            }
        }
    }

    /// As [`wait_until_fed`], looking for work first.
    pub async fn wait_until_fed(&self, index: IndexName, newest: i64, most: Duration) -> Result<(), FeedError> {
        self.hurry.notify_one();
        self.wake();
        wait_until_fed(&self.store, index, newest, most).await
    }

    async fn hold(&self, index: IndexName) -> Result<bool, FeedError> {
        if self.ownership == Ownership::Exclusive {
            return Ok(true);
        }
        let name = format!("feeder:{index}");
        let now = self.clock.now();
        Ok(self.store.acquire_lease(name, self.owner.clone(), now, now + LEASE).await?)
    }

    /// Applies the entries in order; an entry that asks for an empty index does so at its place.
    async fn feed(&self, index: IndexName, entries: Vec<OutboxEntry>) -> Result<(), FeedError> {
        let mut documents = Vec::with_capacity(entries.len());
        for entry in entries {
            match entry.work {
                OutboxWork::Document(doc_id) => documents.push((entry.id, doc_id)),
                OutboxWork::ClearIndex => {
                    self.feed_documents(index, &std::mem::take(&mut documents)).await?;
                    tracing::debug!(index = index.as_str(), "the index is emptied to be made anew");
                    self.engine.clear(index).await?;
                    self.store.complete_outbox(vec![entry.id]).await?;
                }
            }
        }
        self.feed_documents(index, &documents).await
    }

    /// Feeds documents by the ids of their entries and their own.
    async fn feed_documents(&self, index: IndexName, entries: &[(i64, DocId)]) -> Result<(), FeedError> {
        let mut batch = Batch::default();
        let mut seen = HashSet::new();
        for chunk in entries.chunks(DOCUMENTS_AT_ONCE) {
            let doc_ids: Vec<DocId> =
                chunk.iter().map(|(_, doc_id)| *doc_id).filter(|doc_id| seen.insert(*doc_id)).collect();
            batch.entries.extend(chunk.iter().map(|(entry_id, _)| *entry_id));
            let mut missing: HashSet<DocId> = doc_ids.iter().copied().collect();
            for (document, capture) in self.store.load_for_indexing(doc_ids.clone()).await? {
                missing.remove(&document.doc_id);
                batch.put(index_document(document, capture));
            }
            // In the order of the entries, so that the same outbox makes the same index.
            batch.remove(doc_ids.into_iter().filter(|doc_id| missing.contains(doc_id)));
            if batch.bytes >= BATCH_BYTES {
                self.finish(index, std::mem::take(&mut batch)).await?;
            }
        }
        self.finish(index, batch).await
    }

    async fn finish(&self, index: IndexName, batch: Batch) -> Result<(), FeedError> {
        let changes = batch.changes.len();
        self.apply(index, batch.changes).await?;
        metrics::counter!("retrieval_indexed_documents_total", "index" => index.as_str()).increment(changes as u64);
        self.store.complete_outbox(batch.entries).await?;
        Ok(())
    }

    /// Applies the changes. When the engine refuses a batch, its halves are tried apart, down to the one
    /// document that is at fault: that one is logged and left out, since the others must not wait for it.
    async fn apply(&self, index: IndexName, changes: Vec<Change>) -> Result<(), FeedError> {
        let mut parts = vec![changes];
        while let Some(mut changes) = parts.pop() {
            if changes.is_empty() {
                continue;
            }
            match self.apply_holding(index, changes.clone()).await {
                Ok(()) => {}
                Err(FeedError::Engine(error)) if error.kind == EngineErrorKind::Rejected && changes.len() == 1 => {
                    tracing::error!(
                        index = index.as_str(),
                        doc_id = %changes[0].doc_id(),
                        error = &error as &dyn std::error::Error,
                        "the index refuses a document"
                    );
                }
                Err(FeedError::Engine(error)) if error.kind == EngineErrorKind::Rejected => {
                    let second = changes.split_off(changes.len() / 2);
                    parts.push(second);
                    parts.push(changes);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Applies the changes, keeping the lease meanwhile: nobody else is to feed older content after us.
    async fn apply_holding(&self, index: IndexName, changes: Vec<Change>) -> Result<(), FeedError> {
        let applying = self.engine.apply(index, changes);
        if self.ownership == Ownership::Exclusive {
            return Ok(applying.await?);
        }
        tokio::pin!(applying);
        loop {
            if !self.hold(index).await? {
                return Err(FeedError::LeaseLost(index));
            }
            tokio::select! {
                outcome = &mut applying => return Ok(outcome?),
                () = tokio::time::sleep(LEASE / 3) => {}
            }
        }
    }
}

/// Waits until every entry up to `newest` has reached the index, whoever works it off.
///
/// # Errors
/// `TooSlow` when that takes longer than `most`.
pub async fn wait_until_fed(store: &Docstore, index: IndexName, newest: i64, most: Duration) -> Result<(), FeedError> {
    let started = tokio::time::Instant::now();
    let mut pause = Duration::from_millis(2);
    loop {
        match store.outbox_bounds(index).await? {
            Some((oldest, _)) if oldest <= newest => {}
            _ => return Ok(()),
        }
        if started.elapsed() > most {
            return Err(FeedError::TooSlow(most));
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

#[derive(Default)]
struct Batch {
    changes: Vec<Change>,
    entries: Vec<i64>,
    bytes: usize,
}

impl Batch {
    fn put(&mut self, document: IndexDocument) {
        self.bytes += document.body.len() + document.headings.len() + 256;
        self.changes.push(Change::Put(Box::new(document)));
    }

    fn remove(&mut self, doc_ids: impl Iterator<Item = DocId>) {
        self.changes.extend(doc_ids.map(|doc_id| Change::Remove { doc_id }));
    }
}

/// What an index knows of a document.
pub fn index_document(document: Document, capture: Capture) -> IndexDocument {
    let host = retrieval_core::url::CanonicalUrl::parse(&document.canonical_url)
        .map(|url| url.host().to_owned())
        .unwrap_or_default();
    let mut headings = capture.headings.0.join("\n");
    if let Some(description) = &document.description {
        headings.push('\n');
        headings.push_str(description);
    }
    IndexDocument {
        doc_id: document.doc_id,
        collection: document.collection,
        host,
        title: document.title.unwrap_or_default(),
        headings,
        body: capture.content,
        language: document.language,
        country: document.country,
        published_at: document.published_at,
    }
}
