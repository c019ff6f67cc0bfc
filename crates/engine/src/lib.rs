//! The first-stage seam: what a search engine must do for the service, and nothing about how.
//!
//! An engine holds two *derived* indexes (web and workspace). The docstore is the source of truth; an
//! index can be cleared and filled again at any time. Engines store no text for display: a hit is a
//! document id, and everything shown to a caller is read from the docstore.

mod change;
#[cfg(feature = "testing")]
pub mod conformance;
mod error;
pub mod indexing;
#[cfg(feature = "testing")]
pub mod memory;
mod request;
pub mod search_terms;

pub use change::{Change, IndexDocument};
pub use error::{EngineError, EngineErrorKind};
pub use request::{Filters, FirstStageAnswer, FirstStageRequest, Hit};

use async_trait::async_trait;
use model::IndexName;

/// A search engine behind the service. Implementations are cheap to share (`Arc<dyn SearchEngine>`).
#[async_trait]
pub trait SearchEngine: Send + Sync {
    /// The best `limit` documents for the request, best first; ties broken by document id.
    ///
    /// - All words are optional: a document that holds any word of any text is a match, better matches
    ///   (rarer words, more of them) come first.
    /// - `exact_phrase`: only documents that hold the words of the first text next to one another and
    ///   in order, unstemmed, case and diacritics folded, in one field. An engine that keeps no positions may
    ///   let through documents that hold each two neighbours of the phrase apart from the others: who reads
    ///   the text (the second stage) decides.
    /// - Filters hold for every hit. A text is text, never a query language; one without words matches
    ///   nothing, and that is no error.
    /// - Equal requests against an unchanged index have equal answers.
    /// - `Collection::Workspace` never yields a document of another organization, and `total` and the
    ///   statistics are those of that organization alone.
    async fn first_stage(&self, request: &FirstStageRequest) -> Result<FirstStageAnswer, EngineError>;

    /// How many hits to ask for where `results` are wanted, so that the best are among them: the first stage is for
    /// recall, the second for precision. An engine whose order is only close to BM25 wants more.
    fn depth(&self, results: usize) -> usize {
        (2 * results).max(40)
    }

    /// Applies the changes in order and returns once they are durable and visible to `first_stage`.
    /// Idempotent: applying the same changes again leaves the same index. Removing what is not there is
    /// no error.
    async fn apply(&self, index: IndexName, changes: Vec<Change>) -> Result<(), EngineError>;

    /// Empties one index, durably.
    async fn clear(&self, index: IndexName) -> Result<(), EngineError>;

    /// The number of documents in one index, all organizations together.
    async fn document_count(&self, index: IndexName) -> Result<u64, EngineError>;

    /// Cheap proof that the engine answers (readiness).
    async fn ping(&self) -> Result<(), EngineError>;

    /// Indexes that may lack documents of the docstore: they are new, were damaged, lost, or written by another
    /// version, and have not been [filled](Self::mark_rebuilt) since.
    async fn needs_rebuild(&self) -> Result<Vec<IndexName>, EngineError>;

    /// To be called when all documents of these indexes are queued to be put in. Where that fails, it is still to be
    /// done.
    async fn mark_rebuilt(&self, indexes: &[IndexName]) -> Result<(), EngineError>;
}
