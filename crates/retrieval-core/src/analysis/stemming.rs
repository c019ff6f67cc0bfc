use frostem::{Algorithm, Stemmer};

use super::fold::{fold_into, truncate};

/// Cache slots for documents. Texts repeat their words, so this many slots answer most lookups.
pub(super) const DOCUMENT_SLOTS: usize = 8192;

/// Cache slots for a query, which repeats few words and is analysed once per language.
pub(super) const QUERY_SLOTS: usize = 64;

/// Source of the stems of a text's words.
pub(super) trait Stems {
    /// Returns the stem of a lowercase word.
    fn stem(&mut self, lower: &str) -> &str;

    /// Returns the stem of a lowercase word, and that of `word`, the same typed without diacritics, if it is different.
    fn both(&mut self, lower: &str, word: &str) -> (&str, Option<&str>);
}

/// Stems of one language.
pub(super) struct CachedStems {
    algorithm: Algorithm,
    slots: usize,
    stemmer: CachedStemmer,
    /// Stemmer of words typed without diacritics, created by the first of them.
    loose: Option<CachedStemmer>,
}

/// Empty stems, for callers that read none.
pub(super) struct NoStems;

impl CachedStems {
    /// Creates caches of `slots` entries each.
    pub(super) fn new(algorithm: Algorithm, slots: usize) -> Self {
        Self { algorithm, slots, stemmer: CachedStemmer::new(algorithm, slots), loose: None }
    }
}

impl Stems for CachedStems {
    fn stem(&mut self, lower: &str) -> &str {
        self.stemmer.stem(lower)
    }

    fn both(&mut self, lower: &str, word: &str) -> (&str, Option<&str>) {
        let stem = self.stemmer.stem(lower);
        if lower == word {
            return (stem, None);
        }
        let loose = self.loose.get_or_insert_with(|| CachedStemmer::new(self.algorithm, self.slots));
        (stem, Some(loose.stem(word)).filter(|loose| *loose != stem))
    }
}

impl Stems for NoStems {
    fn stem(&mut self, _: &str) -> &str {
        ""
    }

    fn both(&mut self, _: &str, _: &str) -> (&str, Option<&str>) {
        ("", None)
    }
}

/// Stemmer with a direct-mapped cache: each word has one slot and evicts its previous entry. Memory is bounded and no
/// input can make it slow, which a growing hash table cannot promise.
struct CachedStemmer {
    stemmer: Stemmer,
    slots: Vec<Slot>,
}

#[derive(Clone, Default)]
struct Slot {
    word: String,
    stem: String,
}

impl CachedStemmer {
    /// Creates a stemmer with `slots` cache entries, rounded up to a power of two.
    fn new(algorithm: Algorithm, slots: usize) -> Self {
        Self { stemmer: Stemmer::new(algorithm), slots: vec![Slot::default(); slots.next_power_of_two()] }
    }

    /// Returns the stem of a lowercase word, diacritics folded, truncated to the longest allowed term. Words that
    /// contain other characters than letters (part numbers, versions) are identifiers and stay unchanged.
    fn stem(&mut self, lower: &str) -> &str {
        let at = hash(lower) & (self.slots.len() - 1);
        let slot = &mut self.slots[at];
        if slot.word != lower {
            slot.word.clear();
            slot.word.push_str(lower);
            slot.stem.clear();
            // Some combining signs of Indic scripts are not alphabetic, hence the byte test.
            if lower.bytes().all(|byte| byte.is_ascii_alphabetic() || byte >= 0x80) {
                fold_into(&self.stemmer.stem(lower), &mut slot.stem);
            } else {
                fold_into(lower, &mut slot.stem);
            }
            if slot.stem.is_empty() {
                fold_into(lower, &mut slot.stem);
            }
            truncate(&mut slot.stem);
        }
        &slot.stem
    }
}

/// Multiply-and-rotate hash over eight bytes at a time. Only distributes words over slots.
fn hash(word: &str) -> usize {
    const FACTOR: u64 = 0x517c_c1b7_2722_0a95;
    let (chunks, rest) = word.as_bytes().as_chunks::<8>();
    let mut hash = word.len() as u64;
    for chunk in chunks {
        hash = (hash.rotate_left(5) ^ u64::from_le_bytes(*chunk)).wrapping_mul(FACTOR);
    }
    let rest = rest.iter().fold(0, |rest, byte| rest << 8 | u64::from(*byte));
    hash = (hash.rotate_left(5) ^ rest).wrapping_mul(FACTOR);
    (hash >> 48) as usize
}
