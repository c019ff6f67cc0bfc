//! Sample of the documents of a segment, whose sketches are kept once more, one after the other: read where they are, each would be a miss of
//! the CPU cache.

use tantivy::DocId;

use super::passages::{Vector, of_document};

/// One of this many documents is in the sample.
const SAMPLED: usize = 64;

/// Vectors of a sample, in the order of documents.
pub struct Sample {
    /// Number of documents that each of the sample stands for, times the mean number of vectors of a document.
    pub step: usize,
    /// Position of each vector among all.
    pub positions: Vec<u32>,
    pub docs: Vec<DocId>,
    pub bits: Vec<u64>,
}

impl Sample {
    /// Takes all vectors of one document in [`SAMPLED`].
    pub fn new(vectors: &[Vector], bits: &[u64], documents: usize, words: usize) -> Self {
        let step = (SAMPLED * vectors.len()).div_ceil(documents.max(1)).max(1);
        let (mut positions, mut docs, mut sampled) = (Vec::new(), Vec::new(), Vec::new());
        let mut position = 0;
        while position < vectors.len() {
            let passages = of_document(vectors, position);
            position = passages.end.max(position + step);
            sampled.extend_from_slice(&bits[passages.start * words..passages.end * words]);
            docs.extend(vectors[passages.clone()].iter().map(|vector| vector.doc));
            positions.extend(passages.map(|at| at as u32));
        }
        Self { step, positions, docs, bits: sampled }
    }
}
