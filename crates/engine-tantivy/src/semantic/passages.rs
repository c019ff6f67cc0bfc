//! Vectors of one document among those of a segment.

use tantivy::DocId;

use super::query_levels::Correction;

/// Maximum number of candidates per document, so that a long document does not displace all others.
pub const PASSAGES: usize = 4;

/// Facts about the vector of a sketch. A candidate needs all of them, so they are in one line of the CPU cache.
#[derive(Clone, Copy)]
pub struct Vector {
    pub doc: DocId,
    /// First value in the column of codes.
    pub row: u32,
    pub correction: Correction,
}

/// Returns the range of the vectors of the same document around a position.
pub fn of_document(vectors: &[Vector], at: usize) -> std::ops::Range<usize> {
    let is_same = |vector: &&Vector| vector.doc == vectors[at].doc;
    let before = vectors[..at].iter().rev().take_while(is_same).count();
    let after = vectors[at..].iter().take_while(is_same).count();
    at - before..at + after
}

/// Loads the vectors at these positions and those beside them into the CPU cache.
pub fn preload(vectors: &[Vector], positions: impl Iterator<Item = usize>) {
    // Nothing depends on these reads, so the CPU does several at a time.
    let doc = |at: usize| vectors.get(at).map_or(0, |vector| vector.doc);
    std::hint::black_box(positions.fold(0, |all, at| all ^ doc(at.wrapping_sub(1)) ^ doc(at) ^ doc(at + 1)));
}
