//! Application of batches to the engine.

use std::panic::AssertUnwindSafe;

use docstore::OutboxWork;
use engine::{Change, EngineError, EngineErrorKind, IndexDocument};
use futures_util::FutureExt;
use model::{Collection, DocId, Generation, IndexName, OrganizationId};
use uuid::Uuid;

use super::batch::Batch;
use super::read::ReadBatch;
use super::settle::Sent;
use super::{FeedError, Feeder};
use crate::supervisor::report_panic;

/// Number of documents in a batch that belongs to an import.
const MANY: usize = 500;

impl Feeder {
    /// Applies a batch and completes its outbox entries. Returns the generation of the index after it.
    ///
    /// # Errors
    /// `LeaseLost` if another process has fed the index since the batch was read, which may have older contents then.
    pub(super) async fn flush(&self, batch: ReadBatch) -> Result<Option<Generation>, FeedError> {
        let ReadBatch { index, generation, clears, documents, mut terms, is_last: _ } = batch;
        let generation = self.clear(index, generation, clears).await?;
        let flushed = self.flush_documents(index, generation, documents).await;
        terms.finish().await;
        flushed
    }

    /// Clears an index for a rebuild. Documents that were queued before are fed afterwards, with their current content.
    async fn clear(
        &self,
        index: IndexName,
        previous: Option<Generation>,
        entries: Vec<i64>,
    ) -> Result<Option<Generation>, FeedError> {
        if entries.is_empty() {
            return Ok(previous);
        }
        tracing::debug!(index = index.as_str(), "clearing the index for a rebuild");
        let generation = self.start_generation(index, previous).await?;
        let batch = Sent { index, generation, work: vec![OutboxWork::ClearIndex] };
        let clearing = async { self.engine.clear(index).await.map_err(FeedError::from) };
        if !self.send(batch, clearing, entries, Vec::new()).await? {
            return Err(FeedError::LeaseLost(index));
        }
        Ok(Some(generation))
    }

    async fn flush_documents(
        &self,
        index: IndexName,
        previous: Option<Generation>,
        batch: Batch,
    ) -> Result<Option<Generation>, FeedError> {
        if batch.entries.is_empty() {
            return Ok(previous);
        }
        let changes = batch.changes.len();
        let work = batch.changes.iter().map(|change| OutboxWork::Document(change.doc_id())).collect();
        let generation = self.start_generation(index, previous).await?;
        let applying = self.apply(index, batch.changes);
        self.send(Sent { index, generation, work }, applying, batch.entries, batch.unembedded).await?;
        if changes >= MANY {
            self.refresh_statistics().await;
        }
        Ok(Some(generation))
    }

    /// Lets the database plan its queries for the documents that were stored. A failure makes searches slower for a while.
    async fn refresh_statistics(&self) {
        if let Err(error) = self.store.refresh_statistics().await {
            tracing::warn!(error = &error as &dyn std::error::Error, "the statistics of the database were not renewed");
        }
    }

    /// Applies changes. A batch that the engine rejects or that makes it panic is bisected down to the document at fault,
    /// which is logged and skipped so that the others do not wait for it.
    async fn apply(&self, index: IndexName, changes: Vec<Change>) -> Result<(), FeedError> {
        let count = changes.len() as u64;
        let mut parts = vec![changes];
        let mut accepts_documents = false;
        while let Some(mut changes) = parts.pop() {
            if changes.is_empty() {
                continue;
            }
            let error = match self.apply_caught(index, changes.clone()).await {
                Ok(()) => continue,
                Err(FeedError::Engine(error)) if blames_input(error.kind) => error,
                Err(error) => return Err(error),
            };
            if changes.len() > 1 {
                let second = changes.split_off(changes.len() / 2);
                parts.push(second);
                parts.push(changes);
                continue;
            }
            let has_panicked = error.kind == EngineErrorKind::Panicked;
            if has_panicked || !accepts_documents {
                self.check_accepts_documents(index).await?;
                accepts_documents = true;
            }
            if has_panicked && !self.fails_again(index, &changes).await? {
                continue;
            }
            tracing::error!(
                index = index.as_str(),
                doc_id = %changes[0].doc_id(),
                error = &error as &dyn std::error::Error,
                "the index rejected a document"
            );
        }
        count_indexed(index, count);
        Ok(())
    }

    /// Puts and removes a document that nobody has. Only if the engine accepts it, another one is at fault for its rejection: if the
    /// engine rejects or panics on every document, none may be skipped.
    async fn check_accepts_documents(&self, index: IndexName) -> Result<(), FeedError> {
        let doc_id = DocId(Uuid::nil());
        let collection = match index {
            IndexName::Web => Collection::Web,
            IndexName::Workspace => Collection::Workspace(OrganizationId(Uuid::nil())),
        };
        self.apply_caught(index, vec![Change::Put(Box::new(IndexDocument::new(doc_id, collection)))]).await?;
        self.apply_caught(index, vec![Change::Remove { doc_id }]).await
    }

    /// Returns true if the engine rejects or panics on these changes once more.
    async fn fails_again(&self, index: IndexName, changes: &[Change]) -> Result<bool, FeedError> {
        match self.apply_caught(index, changes.to_vec()).await {
            Ok(()) => Ok(false),
            Err(FeedError::Engine(error)) if blames_input(error.kind) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Applies changes and turns a panic of the engine into an error.
    async fn apply_caught(&self, index: IndexName, changes: Vec<Change>) -> Result<(), FeedError> {
        let applying = AssertUnwindSafe(self.engine.apply(index, changes));
        let applied = applying.catch_unwind().await.unwrap_or_else(|panic| {
            let message = report_panic("feeder", panic.as_ref());
            Err(EngineError::new(EngineErrorKind::Panicked, message))
        });
        Ok(applied?)
    }
}

/// Returns true for errors that may be the fault of a single document.
fn blames_input(kind: EngineErrorKind) -> bool {
    match kind {
        EngineErrorKind::Rejected | EngineErrorKind::Panicked => true,
        EngineErrorKind::Unavailable | EngineErrorKind::Corrupt => false,
    }
}

/// Counts changes. A count of 0 makes the counter known to the first scrape.
pub(super) fn count_indexed(index: IndexName, changes: u64) {
    metrics::counter!("retrieval_indexed_documents_total", "index" => index.as_str()).increment(changes);
}
