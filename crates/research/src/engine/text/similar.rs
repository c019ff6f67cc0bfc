//! Near-duplicates: passages and sentences that say the same in almost the same words.

use std::collections::BTreeSet;

use super::numbers;

/// Components of a fingerprint (Broder, "On the resemblance and containment of documents", 1997).
const COMPONENTS: usize = 24;

/// Equal components of near-duplicates: an estimated resemblance of 0.6. One changed sentence of five keeps more.
const SAME_COMPONENTS: usize = 14;

/// Words of a shingle.
const SHINGLE: usize = 3;

/// Returns the minima of [`COMPONENTS`] hash functions over the shingles of a text. Empty for a text without words.
pub(crate) fn fingerprint(text: &str) -> Vec<u32> {
    let words = word_hashes(text);
    if words.is_empty() {
        return Vec::new();
    }
    let mut minima = vec![u32::MAX; COMPONENTS];
    for shingle in words.windows(SHINGLE.min(words.len())) {
        let hash = shingle.iter().fold(0, |hash, word| mix(hash ^ word));
        let mut value = hash;
        for least in &mut minima {
            value = mix(value);
            *least = (*least).min((value >> 32) as u32);
        }
    }
    minima
}

/// Returns true if the texts of two fingerprints resemble each other.
pub(crate) fn resemble(one: &[u32], other: &[u32]) -> bool {
    one.len() == COMPONENTS && one.iter().zip(other).filter(|(one, other)| one == other).count() >= SAME_COMPONENTS
}

/// Words and numbers of a sentence, for comparison with others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gist {
    words: BTreeSet<u64>,
    numbers: BTreeSet<String>,
}

impl Gist {
    pub fn of(text: &str) -> Self {
        Self { words: word_hashes(text).into_iter().collect(), numbers: numbers::values(text) }
    }

    /// Shared words by all words: 0 to 1.
    pub fn resemblance(&self, other: &Self) -> f64 {
        let shared = self.words.intersection(&other.words).count();
        let all = self.words.len() + other.words.len() - shared;
        if all == 0 { 0.0 } else { shared as f64 / all as f64 }
    }

    /// Returns true if both say the same: nearly the same words, and the same numbers.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let shared = self.words.intersection(&other.words).count();
        let contained = shared == self.words.len().min(other.words.len()) && shared >= 5;
        self.numbers == other.numbers && (contained || self.resemblance(other) >= 0.75)
    }

    pub fn numbers(&self) -> &BTreeSet<String> {
        &self.numbers
    }
}

/// Returns a hash of each word in lowercase; of each character in scripts without spaces.
fn word_hashes(text: &str) -> Vec<u64> {
    let mut hashes = Vec::new();
    let mut word = String::new();
    for c in text.chars().chain([' ']) {
        if c.is_alphanumeric() && !is_unspaced(c) {
            word.extend(c.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            hashes.push(hash(word.as_bytes()));
            word.clear();
        }
        if c.is_alphanumeric() {
            hashes.push(hash(c.encode_utf8(&mut [0; 4]).as_bytes()));
        }
    }
    hashes
}

/// Matches scripts without spaces between words.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// FNV-1a: stored fingerprints must not depend on the version of the standard library.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Finalizer of SplitMix64.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_word_keeps_the_resemblance_and_another_text_does_not() {
        let text = "The pump runs at thirty bar and must be serviced every year by trained staff. Grease the bearing \
                    with NLGI 2 before the first start. Close the valve when the pump stops.";
        let changed = text.replace("trained", "qualified");
        assert!(resemble(&fingerprint(text), &fingerprint(&changed)));
        let other = "Bearings of other makers need oil. Valves open at start.";
        assert!(!resemble(&fingerprint(text), &fingerprint(other)));
        assert!(!resemble(&fingerprint(""), &fingerprint("")));
    }

    #[test]
    fn sentences_with_other_numbers_are_not_the_same() {
        let gist = Gist::of("The pump runs at 30 bar in normal use.");
        assert!(gist.says_the_same(&Gist::of("The pump runs at 30 bar in normal use!")));
        assert!(!gist.says_the_same(&Gist::of("The pump runs at 40 bar in normal use.")));
    }
}
