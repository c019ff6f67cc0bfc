//! Embedding of all documents with a model, for a command.

use std::sync::Arc;
use std::time::Duration;

use docstore::{Docstore, StoreError};
use model::{CaptureId, Clock, DocId, IndexName};
use models::embedding::Embedder;
use retrieval_core::fusion::Calibration;

use super::round::{ATTEMPTS, EmbedError, Embedding, Task};

const DOCUMENTS_PER_PAGE: i64 = 64;
/// Captures looked at per transaction while vectors are pruned.
const CAPTURES_PER_PAGE: i64 = 2_000;
/// Pauses before further attempts while the model is unavailable, in seconds.
const PAUSES: [u64; 6] = [1, 2, 4, 8, 16, 32];

/// Result of filling in vectors.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Filled {
    pub documents: usize,
    /// Passages that the model embedded.
    pub passages: usize,
}

/// Fills in the vectors of a model, beside servers that use this or another one.
pub struct Filler {
    embedding: Embedding,
}

impl Filler {
    pub fn new(store: Docstore, embedder: Arc<dyn Embedder>, clock: Arc<dyn Clock>) -> Self {
        Self { embedding: Embedding::new(store, embedder, clock) }
    }

    /// Returns the quality of the model, which is measured unless it is known.
    ///
    /// # Errors
    /// Failures of the model or the database.
    pub async fn calibrate(&self) -> Result<Calibration, EmbedError> {
        self.embedding.calibrate().await
    }

    /// Counts the documents of all indexes that lack vectors.
    pub async fn missing(&self) -> Result<u64, StoreError> {
        let mut missing = 0;
        for index in IndexName::ALL {
            let count = self.embedding.store.count_unembedded(*index, self.embedding.model()).await?;
            missing += u64::try_from(count).unwrap_or(0);
        }
        Ok(missing)
    }

    /// Embeds all documents that lack vectors. Calls `progress` with numbers of documents. It can be repeated after a failure and
    /// continues where it stopped.
    pub async fn fill(&self, mut progress: impl FnMut(usize)) -> Result<Filled, EmbedError> {
        let mut filled = Filled::default();
        for index in IndexName::ALL {
            let mut after = None;
            loop {
                let model = self.embedding.model();
                let page = self.embedding.store.list_unembedded(*index, model, after, DOCUMENTS_PER_PAGE).await?;
                let Some(last) = page.last().copied() else { break };
                self.fill_page(page, &mut filled, &mut progress).await?;
                after = Some(last);
            }
        }
        Ok(filled)
    }

    async fn fill_page(
        &self,
        mut page: Vec<DocId>,
        filled: &mut Filled,
        progress: &mut impl FnMut(usize),
    ) -> Result<(), EmbedError> {
        let mut pauses = PAUSES.into_iter();
        while !page.is_empty() {
            // A text that the model rejects is given up at once.
            let tasks: Vec<Task> = page.iter().map(|doc_id| Task { doc_id: *doc_id, attempts: ATTEMPTS - 1 }).collect();
            let round = self.embedding.round(&tasks).await?;
            filled.documents += round.embedded.len();
            filled.passages += round.texts;
            let before = page.len();
            page.retain(|doc_id| !round.embedded.contains(doc_id) && !round.settled.contains(doc_id));
            progress(before - page.len());
            let is_stuck = page.len() == before && round.is_stuck();
            if !is_stuck {
                pauses = PAUSES.into_iter();
            }
            match round.failure {
                Some(error) => {
                    let Some(seconds) = pauses.next() else { return Err(error.into()) };
                    tokio::time::sleep(Duration::from_secs(seconds)).await;
                }
                // Not even an attempt ended for these.
                None if is_stuck => drop(page.drain(..round.reached)),
                None => {}
            }
        }
        Ok(())
    }

    /// Deletes the vectors of models that are neither this one nor used by an index. Returns the number of captures.
    pub async fn prune(&self) -> Result<usize, StoreError> {
        let store = &self.embedding.store;
        let mut kept = vec![self.embedding.model()];
        for index in IndexName::ALL {
            kept.extend(store.find_index_model(*index).await?.model);
        }
        let (mut pruned, mut after): (usize, Option<CaptureId>) = (0, None);
        loop {
            let (deleted, last) = store.prune_vectors(kept.clone(), after, CAPTURES_PER_PAGE).await?;
            pruned += deleted;
            if last.is_none() {
                return Ok(pruned);
            }
            after = last;
        }
    }
}
