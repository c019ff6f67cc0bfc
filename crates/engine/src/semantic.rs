//! Search by vectors.

use model::{Collection, DocId};
use retrieval_core::embeddings::{QuantizedVector, VectorSpace};

use crate::Filters;

/// Vectors of the passages of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentVectors {
    pub space: VectorSpace,
    /// One vector per embedded passage. All have the same number of components.
    pub passages: Vec<QuantizedVector>,
}

/// Search for the documents whose passages are nearest to a vector.
#[derive(Clone, Debug)]
pub struct SemanticRequest {
    pub collection: Collection,
    /// Documents with vectors of other spaces, or with another number of components, are no hits.
    pub space: VectorSpace,
    pub vector: QuantizedVector,
    pub filters: Filters,
    /// Maximum number of hits, at least 1.
    pub limit: usize,
}

/// Document near to a vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SemanticHit {
    pub doc_id: DocId,
    /// Cosine of the angle between the vector and the nearest passage.
    pub cosine: f32,
}
