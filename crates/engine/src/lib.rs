#![doc = include_str!("../README.md")]

mod change;
#[cfg(feature = "testing")]
pub mod conformance;
mod error;
pub mod estimate;
pub mod indexing;
mod lifetime;
#[cfg(feature = "testing")]
pub mod memory;
mod request;
pub mod search_terms;
mod semantic;
pub mod tokens;

pub use change::{Change, IndexDocument, last_changes};
pub use error::{EngineError, EngineErrorKind};
pub use lifetime::Lifetime;
pub use request::{Filters, FirstStageRequest, FirstStageResponse, Hit, Snapshot, UnknownValues};
pub use semantic::{DocumentVectors, SemanticHit, SemanticRequest, VectorKind};

use async_trait::async_trait;
use model::{Generation, IndexName};

/// Returns the number of candidates that a stage needs for `results` results from a stage whose order is good.
pub fn candidate_limit(results: usize) -> usize {
    (2 * results).max(40)
}

/// Search engine with two derived indexes, web and workspace. Shared as `Arc<dyn SearchEngine>`.
///
/// The docstore is the source of truth; an index can be cleared and refilled at any time. Engines store no text for
/// display: a hit is a document id, and everything shown to a caller is read from the docstore.
#[async_trait]
pub trait SearchEngine: Send + Sync {
    /// Returns the best `limit` documents for the request, best first; ties are broken by document id.
    ///
    /// - All words are optional: a document matches if it contains any word of any text. Rarer and more matching words
    ///   rank higher.
    /// - `exact_phrase` limits hits to documents that contain the words of any text adjacent and in order, in one field,
    ///   unstemmed, with case and diacritics folded. An engine without positions may also return documents in which each
    ///   pair of neighbouring words occurs, but not the whole phrase; the second stage checks the text.
    /// - Filters apply to every hit. A document without a value that a filter needs is no hit, but counts in
    ///   `unknown_values` if it meets the rest of the request. A text is never parsed as a query language. A text without words matches nothing,
    ///   which is not an error.
    /// - Equal requests on an unchanged index have equal responses.
    /// - `Collection::Workspace` never returns a document of another organization, and `total` and `statistics` cover
    ///   only that organization.
    async fn first_stage(&self, request: &FirstStageRequest) -> Result<FirstStageResponse, EngineError>;

    /// Returns true if `exact_phrase` compares whole phrases. If not, the second stage drops documents that are too long
    /// to check.
    fn verifies_phrases(&self) -> bool {
        false
    }

    /// Returns the `limit` documents with the nearest passages, nearest first; ties are broken by document id.
    ///
    /// Filters and scopes are as in `first_stage`. The search may be approximate: it finds nearly all of the nearest documents.
    /// Documents without vectors of the requested space are no hits.
    async fn semantic(&self, request: &SemanticRequest) -> Result<Vec<SemanticHit>, EngineError>;

    /// Returns the number of candidates to request for `results` results. The first stage provides recall, the second
    /// precision. An engine that only approximates the order of BM25 needs more candidates.
    fn candidate_limit(&self, results: usize) -> usize {
        candidate_limit(results)
    }

    /// Returns about how many bytes of text one call of `apply` should have. Callers keep two such batches in memory.
    fn batch_bytes(&self) -> usize {
        16 << 20
    }

    /// Applies the changes in order and returns once they are durable and visible to `first_stage`.
    ///
    /// Idempotent: applying the same changes again leaves the same index. Removing a missing document is not an error.
    async fn apply(&self, index: IndexName, changes: Vec<Change>) -> Result<(), EngineError>;

    /// Removes all documents from one index, durably.
    async fn clear(&self, index: IndexName) -> Result<(), EngineError>;

    /// Returns the number of documents in one index, across all organizations.
    async fn document_count(&self, index: IndexName) -> Result<u64, EngineError>;

    /// Verifies cheaply that the engine is available, for readiness checks.
    async fn ping(&self) -> Result<(), EngineError>;

    /// Returns the indexes that may lack documents of the docstore: new, lost, damaged, or written by another version,
    /// and not [marked as rebuilt](Self::mark_rebuilt) since.
    async fn needs_rebuild(&self) -> Result<Vec<IndexName>, EngineError>;

    /// Returns the generation that was stored last for the index; `None` if there never was one, or if it was lost with the
    /// index.
    async fn generation(&self, index: IndexName) -> Result<Option<Generation>, EngineError>;

    /// Stores the generation of an index durably. The caller does so before it changes the index, so that an index and a
    /// database of different times can be told from each other.
    async fn set_generation(&self, index: IndexName, generation: Generation) -> Result<(), EngineError>;

    /// Marks indexes as rebuilt. Call it once all their documents are queued; after an error they still need a rebuild.
    async fn mark_rebuilt(&self, indexes: &[IndexName]) -> Result<(), EngineError>;
}
