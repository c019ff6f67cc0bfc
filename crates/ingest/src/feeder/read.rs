//! Batches read from the docstore.

use std::collections::{HashMap, HashSet};

use docstore::{Capture, Document, OutboxEntry, OutboxWork, PendingOutbox};
use model::{DocId, Generation, IndexName};

use super::batch::{Batch, index_document};
use super::terms::Terms;
use super::vectors::{Found, Vectors};
use super::{FeedError, Feeder, Ownership, long};
use crate::turns;

/// Maximum outbox entries per batch. Indexes take one large batch in far less time than many small ones.
const ENTRIES: usize = 20_000;
/// Documents read from the docstore at a time.
const DOCUMENTS_PER_READ: usize = 64;

/// Batch for an index, with the contents of its documents.
pub struct ReadBatch {
    pub index: IndexName,
    /// Generation of the index that the batch follows.
    pub generation: Option<Generation>,
    /// Entries that clear the index for a rebuild, before the documents.
    pub clears: Vec<i64>,
    pub documents: Batch,
    /// Term vectors of the documents, which may still be being stored.
    pub terms: Terms,
    /// True if there were no entries beyond this batch. Those added since wait for the next pass: a run that keeps writing would
    /// be indexed in many tiny batches.
    pub is_last: bool,
}

impl ReadBatch {
    /// Returns the outbox entries that the batch completes.
    pub fn entries(&self) -> impl Iterator<Item = i64> {
        self.clears.iter().chain(&self.documents.entries).copied()
    }
}

impl Feeder {
    /// Reads the next batch of an index, without entries that are being applied. `None` if there is nothing to do, or if
    /// another process does it.
    pub(super) async fn read_batch(
        &self,
        index: IndexName,
        in_flight: &HashSet<i64>,
    ) -> Result<Option<ReadBatch>, FeedError> {
        // An instance without the lease would list a long backlog at each poll. A batch in flight has the lease.
        if self.ownership == Ownership::Leased
            && in_flight.is_empty()
            && (self.store.outbox_bounds(index).await?.is_none() || !self.acquire_lease(index).await?)
        {
            return Ok(None);
        }
        // Of each organization the oldest are listed, which are in flight.
        let limit = if in_flight.is_empty() { ENTRIES } else { 2 * ENTRIES };
        let PendingOutbox { entries: mut pending, has_more } = self.store.pending_outbox(index, limit as i64).await?;
        pending.retain(|entry| !in_flight.contains(&entry.id));
        // Once more: the listing may have taken long.
        if pending.is_empty() || !self.acquire_lease(index).await? {
            return Ok(None);
        }
        let generation = self.engine.generation(index).await?;
        let (mut clears, mut documents) = (Vec::new(), Vec::with_capacity(pending.len()));
        for OutboxEntry { id, work, .. } in turns::in_turn(pending) {
            match work {
                OutboxWork::Document(doc_id) => documents.push((id, doc_id)),
                OutboxWork::ClearIndex => clears.push(id),
            }
        }
        let queued = documents.len();
        documents.truncate(ENTRIES);
        let (documents, terms) = self.keep_lease(index, self.read_documents(index, &documents)).await?;
        let is_last = !has_more && documents.entries.len() == queued;
        Ok(Some(ReadBatch { index, generation, clears, documents, terms, is_last }))
    }

    /// Reads documents, given as pairs of entry id and document id, until a batch is full.
    async fn read_documents(&self, index: IndexName, entries: &[(i64, DocId)]) -> Result<(Batch, Terms), FeedError> {
        let model = self.store.find_index_model(index).await?.model;
        let mut batch = Batch::default();
        let mut terms = Terms::new(self.store.clone());
        let mut seen = HashSet::new();
        let most_bytes = self.engine.batch_bytes();
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
                if batch.bytes >= most_bytes {
                    break 'chunks;
                }
            }
            terms.store().await;
        }
        terms.store().await;
        Ok((batch, terms))
    }
}
