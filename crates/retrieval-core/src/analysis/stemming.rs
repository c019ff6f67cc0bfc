use frostem::{Algorithm, Stemmer};

use super::fold::{fold_into, truncate};

/// Cache slots for documents. Texts repeat their words, so this many slots answer most lookups.
pub(super) const DOCUMENT_SLOTS: usize = 4096;

/// Cache slots for a query, which repeats few words and is analysed once per language.
pub(super) const QUERY_SLOTS: usize = 64;

/// Bytes of a slot for a word and its stem. With the lengths a slot fills a cache line of 64 bytes; longer words are rare.
const SLOT_BYTES: usize = 62;

/// Stemmer with a direct-mapped cache: each word has one slot and evicts its previous entry. Memory is bounded and no
/// input can make it slow, which a growing hash table cannot promise.
pub(super) struct CachedStemmer {
    stemmer: Stemmer,
    slots: Vec<Slot>,
    /// Stem that was computed last.
    computed: String,
}

/// A word, followed by its stem. Both are in the slot itself, so that a lookup reads one cache line.
#[derive(Clone)]
#[repr(align(64))]
struct Slot {
    word: u8,
    stem: u8,
    bytes: [u8; SLOT_BYTES],
}

impl Slot {
    const EMPTY: Self = Self { word: 0, stem: 0, bytes: [0; SLOT_BYTES] };

    fn has(&self, word: &str) -> bool {
        &self.bytes[..usize::from(self.word)] == word.as_bytes()
    }

    fn stem(&self) -> &str {
        str::from_utf8(&self.bytes[usize::from(self.word)..][..usize::from(self.stem)]).unwrap_or_default()
    }

    /// Replaces the entry. Returns false if the new one is too long.
    fn set(&mut self, word: &str, stem: &str) -> bool {
        let Some(bytes) = self.bytes.get_mut(..word.len() + stem.len()) else { return false };
        let (word_bytes, stem_bytes) = bytes.split_at_mut(word.len());
        word_bytes.copy_from_slice(word.as_bytes());
        stem_bytes.copy_from_slice(stem.as_bytes());
        (self.word, self.stem) = (word.len() as u8, stem.len() as u8);
        true
    }
}

impl CachedStemmer {
    /// Creates a stemmer with at least `slots` cache entries.
    pub(super) fn new(algorithm: Algorithm, slots: usize) -> Self {
        let slots = vec![Slot::EMPTY; slots.next_power_of_two()];
        Self { stemmer: Stemmer::new(algorithm), slots, computed: String::new() }
    }

    /// Returns the stem of a lowercase word, diacritics folded, truncated to the longest allowed term. Words that
    /// contain other characters than letters (part numbers, versions) are identifiers and stay unchanged.
    pub(super) fn stem(&mut self, lower: &str) -> &str {
        let mask = self.slots.len() - 1;
        let slot = &mut self.slots[hash(lower) & mask];
        if !slot.has(lower) {
            compute(&self.stemmer, lower, &mut self.computed);
            if !slot.set(lower, &self.computed) {
                return &self.computed;
            }
        }
        slot.stem()
    }
}

/// Replaces `stem` by the stem of a word.
fn compute(stemmer: &Stemmer, lower: &str, stem: &mut String) {
    stem.clear();
    // Some combining signs of Indic scripts are not alphabetic, hence the byte test.
    if lower.bytes().all(|byte| byte.is_ascii_alphabetic() || byte >= 0x80) {
        fold_into(&stemmer.stem(lower), stem);
    } else {
        fold_into(lower, stem);
    }
    if stem.is_empty() {
        fold_into(lower, stem);
    }
    truncate(stem);
}

/// Multiply-and-rotate hash over eight bytes at a time. Only distributes words over slots.
fn hash(word: &str) -> usize {
    let mut hash = word.len() as u64;
    for chunk in word.as_bytes().chunks(8) {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        hash = (hash.rotate_left(5) ^ u64::from_le_bytes(bytes)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    (hash >> 48) as usize
}
