use frostem::{Algorithm, Stemmer};

use super::fold::{cut, fold_into};

/// Slots for documents. A text repeats its words: so many slots answer most of them without stemming again.
pub(super) const DOCUMENT_SLOTS: usize = 4096;

/// Slots for a query, which repeats little and is analysed once a language.
pub(super) const QUERY_SLOTS: usize = 64;

/// A stemmer with a direct-mapped cache: a word has one slot and displaces what was there. Memory is
/// bounded and no input can make it slow, which a growing hash table cannot promise.
pub(super) struct CachedStemmer {
    stemmer: Stemmer,
    slots: Vec<Slot>,
}

#[derive(Clone, Default)]
struct Slot {
    word: String,
    stem: String,
}

impl CachedStemmer {
    /// `slots` is at least 1.
    pub(super) fn new(algorithm: Algorithm, slots: usize) -> Self {
        Self { stemmer: Stemmer::new(algorithm), slots: vec![Slot::default(); slots.max(1)] }
    }

    /// The stem of a lowercase word, diacritics folded, cut to the longest allowed term. Words that hold
    /// anything but letters (part numbers, versions) are identifiers and stay as they are.
    pub(super) fn stem(&mut self, lower: &str) -> &str {
        let at = hash(lower) % self.slots.len();
        let slot = &mut self.slots[at];
        if slot.word != lower {
            slot.word.clear();
            slot.word.push_str(lower);
            slot.stem.clear();
            // Combining signs of Indic scripts are not alphabetic to the last one, hence the digit test.
            if lower.bytes().all(|byte| byte.is_ascii_alphabetic() || byte >= 0x80) {
                fold_into(&self.stemmer.stem(lower), &mut slot.stem);
            } else {
                fold_into(lower, &mut slot.stem);
            }
            if slot.stem.is_empty() {
                fold_into(lower, &mut slot.stem);
            }
            cut(&mut slot.stem);
        }
        &slot.stem
    }
}

/// Multiply-and-rotate over eight bytes at a time; only spreads words over slots.
fn hash(word: &str) -> usize {
    let mut hash = word.len() as u64;
    for chunk in word.as_bytes().chunks(8) {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        hash = (hash.rotate_left(5) ^ u64::from_le_bytes(bytes)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    (hash >> 48) as usize
}
