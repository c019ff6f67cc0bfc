//! Places of stems in tables.
//!
//! The hash of a stem is public, and a text chooses its words: with words whose hashes share the bits that index a table, every
//! lookup would read most of the table. Tables are therefore indexed by the hash mixed with a random key of the process. The
//! key decides places in tables only, and no result.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;

/// Ids of stems by the hash of the stem.
pub(super) type StemIds = HashMap<u64, u32, StemKey>;

static KEY: LazyLock<StemKey> = LazyLock::new(StemKey::random);

/// Random key of this process, which its [`Default`] returns.
#[derive(Clone, Copy)]
pub(super) struct StemKey {
    offset: u64,
    /// An odd number.
    factor: u64,
}

impl StemKey {
    fn random() -> Self {
        let random = RandomState::new();
        Self { offset: random.hash_one(0_u64), factor: random.hash_one(1_u64) | 1 }
    }

    /// Returns the hash mixed with the key. Twice, since once keeps hashes of equal steps in near places under some keys.
    pub fn mix(self, hash: u64) -> u64 {
        self.fold(self.fold(hash))
    }

    fn fold(self, hash: u64) -> u64 {
        let product = u128::from(hash ^ self.offset) * u128::from(self.factor);
        (product as u64) ^ ((product >> 64) as u64)
    }
}

impl Default for StemKey {
    fn default() -> Self {
        *KEY
    }
}

impl BuildHasher for StemKey {
    type Hasher = StemHasher;

    fn build_hasher(&self) -> StemHasher {
        StemHasher { key: *self, mixed: 0 }
    }
}

/// Hasher of keys that are hashes already.
pub(super) struct StemHasher {
    key: StemKey,
    mixed: u64,
}

impl Hasher for StemHasher {
    fn finish(&self) -> u64 {
        self.mixed
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.mixed = self.key.mix(self.mixed ^ u64::from(*byte)));
    }

    fn write_u64(&mut self, hash: u64) {
        self.mixed = self.key.mix(hash);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn hashes_that_share_bits_are_spread() {
        // By their lowest bits, by bits in the middle, and by the highest, which decide places in both kinds of tables.
        for share in [0, 32, 57] {
            for step in [0, 16, 32, 48] {
                let places = (0..4_096_u64).map(|number| StemKey::default().mix(number << step) >> share & 0x7f);
                let mut counts = [0_u32; 128];
                places.for_each(|place| counts[place as usize] += 1);
                // 32 each on average.
                assert!(counts.iter().all(|count| *count < 128), "{share} {step} {counts:?}");
            }
        }
        let distinct: HashSet<u64> = (0..4_096).map(|number: u64| StemKey::default().mix(number << 48)).collect();
        assert!(distinct.len() > 4_000);
    }

    #[test]
    fn the_key_is_that_of_the_process() {
        assert_eq!(StemKey::default().mix(7), StemKey::default().mix(7));
        assert_eq!(StemKey::default().hash_one(7_u64), StemKey::default().mix(7));
        assert_ne!(StemKey::random().mix(7), StemKey::random().mix(7));
    }
}
