//! Sections of a long document: the ones that contain the words of a query, found without reading the document.
//!
//! [`index`] analyses the document once. For each stem and each unstemmed word it lists the sections that contain it,
//! about one byte for each. The lists are stored in buckets by the hash of the word, so a query reads a few kilobytes.
//! A collision of hashes names a section too many, never one too few.

mod index;
mod query;

use std::collections::HashMap;

pub use index::{bucket_count, index};
pub use query::{PhraseSections, PhraseWords, QueryWords, SectionQuery};

/// Buckets that a query asked for, by number. A missing one is empty.
pub type Buckets = HashMap<usize, Vec<u8>>;

/// Hash of a stem or word. Stored: a change requires a new [`ANALYSIS_VERSION`](crate::analysis::ANALYSIS_VERSION).
fn hash(term: &str) -> u64 {
    crate::stem_hash::hash(term)
}

#[cfg(test)]
mod tests;
