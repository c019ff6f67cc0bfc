//! Search by vectors.

use model::{Collection, DocId};
use retrieval_core::embeddings::{QuantizedVector, VectorSpace};

use crate::Filters;

/// Vectors that can be compared.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct VectorKind {
    pub space: VectorSpace,
    pub dimensions: usize,
}

impl VectorKind {
    /// Returns a name for indexes on a server: lowercase hexadecimal digits, a hyphen and decimal digits.
    pub fn name(self) -> String {
        format!("{:016x}-{}", self.space.0, self.dimensions)
    }
}

/// Vectors of the passages of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentVectors {
    pub space: VectorSpace,
    /// One vector per embedded passage. All have the same number of components.
    pub passages: Vec<QuantizedVector>,
}

impl DocumentVectors {
    /// Returns the kind of the vectors; `None` without passages.
    pub fn kind(&self) -> Option<VectorKind> {
        let first = self.passages.first()?;
        Some(VectorKind { space: self.space, dimensions: first.dimensions() })
    }
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

impl SemanticRequest {
    pub fn kind(&self) -> VectorKind {
        VectorKind { space: self.space, dimensions: self.vector.dimensions() }
    }
}

/// Document near to a vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SemanticHit {
    pub doc_id: DocId,
    /// Cosine of the angle between the vector and the nearest passage.
    pub cosine: f32,
}
