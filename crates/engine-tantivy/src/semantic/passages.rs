//! Vectors of one document among those of a segment.

/// Maximum number of candidates per document, so that a long document does not displace all others.
pub const PASSAGES: usize = 4;

/// Returns the range of equal documents around a position.
pub fn of_document(docs: &[u32], at: usize) -> std::ops::Range<usize> {
    let before = docs[..at].iter().rev().take_while(|doc| **doc == docs[at]).count();
    let after = docs[at..].iter().take_while(|doc| **doc == docs[at]).count();
    at - before..at + after
}
