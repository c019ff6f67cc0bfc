//! Numbering of terms.

use super::stem_key::StemKey;
use crate::query_matcher::QueryMatcher;
use crate::stem_hash::hash;

/// Numbers the terms of all candidates, those of the query first.
///
/// Terms are identified by a 64-bit hash alone, which avoids copying and comparing every word of every candidate. Among
/// ten thousand terms a collision, which counts two words as one, occurs in one of 10^11 queries.
pub(super) struct Vocabulary {
    key: StemKey,
    /// Open-addressing table of ids; at most half full, length a power of two. `EMPTY` marks a free slot. Small, since every search
    /// fills a new one.
    slots: Vec<u32>,
    /// Hash by id.
    hashes: Vec<u64>,
    /// Query term by id, of the query's stems.
    terms: Vec<u16>,
}

const EMPTY: u32 = u32::MAX;

impl Vocabulary {
    pub fn new(matcher: &QueryMatcher) -> Self {
        let mut vocabulary = Self {
            key: StemKey::default(),
            slots: vec![EMPTY; 1 << 14],
            hashes: Vec::with_capacity(1 << 12),
            terms: Vec::new(),
        };
        for (stem, term) in matcher.stems() {
            // Two stems with one hash are one.
            if vocabulary.id(hash(stem)) as usize == vocabulary.terms.len() {
                vocabulary.terms.push(term);
            }
        }
        vocabulary
    }

    /// Returns the id of the term with this [`hash`], assigning a new one if needed.
    pub fn id(&mut self, hash: u64) -> u32 {
        if 2 * self.hashes.len() >= self.slots.len() {
            self.grow();
        }
        let slot = slot(&self.slots, &self.hashes, self.key, hash);
        if self.slots[slot] == EMPTY {
            self.slots[slot] = u32::try_from(self.hashes.len()).unwrap_or(EMPTY - 1);
            self.hashes.push(hash);
        }
        self.slots[slot]
    }

    /// Returns the query term with this id.
    pub fn term(&self, id: u32) -> Option<u16> {
        self.terms.get(id as usize).copied()
    }

    /// Returns the number of terms; ids are smaller.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Returns the hash of each term, by id.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    fn grow(&mut self) {
        let mut slots = vec![EMPTY; 2 * self.slots.len()];
        for (hash, id) in self.hashes.iter().zip(0..) {
            let slot = slot(&slots, &self.hashes, self.key, *hash);
            slots[slot] = id;
        }
        self.slots = slots;
    }
}

/// Returns the slot of the hash, or the free slot for it.
fn slot(slots: &[u32], hashes: &[u64], key: StemKey, hash: u64) -> usize {
    let mask = slots.len() - 1;
    let mut at = (key.mix(hash) >> 32) as usize & mask;
    while slots[at] != EMPTY && hashes[slots[at] as usize] != hash {
        at = (at + 1) & mask;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the length of the longest run of taken slots, which one lookup may read, after adding hashes.
    fn longest_run(hashes: impl Iterator<Item = u64>) -> usize {
        let mut vocabulary = Vocabulary::new(&QueryMatcher::new("pump", &[]));
        for (added, hash) in (1..).zip(hashes) {
            assert_eq!(vocabulary.id(hash) as usize, added, "ids are given in order");
        }
        let runs = vocabulary.slots.split(|id| *id == EMPTY);
        runs.map(|run| run.len()).max().unwrap_or(0)
    }

    #[test]
    fn words_that_are_chosen_by_their_hash_take_no_longer() {
        const WORDS: u64 = 20_000;
        // The bits that would place the hash itself in the table are 0 for all of them.
        let same_place = |number: u64| number << 48 | number;
        let ordinary = longest_run((0..WORDS).map(|number| hash(&format!("w{number}"))));
        let chosen = longest_run((0..WORDS).map(same_place));
        assert!(chosen < 4 * ordinary + 40, "{chosen} {ordinary}");
    }
}
