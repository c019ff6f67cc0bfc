//! Inverted lists: layout, writer and reader.
//!
//! A bucket is a sequence of entries in the order of their keys: the key (4 bytes, little endian), the length of the list
//! in bytes, and the list, each section number as the difference to the one before. Numbers are LEB128.

use super::{Buckets, hash};
use crate::analysis::{Analyzers, Language};
use crate::varint;

const MAX_BUCKETS: usize = 1 << 12;
/// Bits of a hash that are stored, above the bits of the section number.
const HASH_BITS: u32 = 40;
const SECTION_BITS: u32 = u64::BITS - HASH_BITS;

/// Returns the number of buckets for a document of this many sections; a bucket has about three kilobytes.
pub fn bucket_count(sections: usize) -> usize {
    sections.next_power_of_two().min(MAX_BUCKETS)
}

/// Returns the buckets of a document. `starts` are the bytes at which its sections start, rising from 0; `language` is its
/// ISO 639-1 code.
pub fn index(content: &str, starts: &[usize], language: Option<&str>) -> Vec<Vec<u8>> {
    let mut analyzers = Analyzers::default();
    let analyzer = analyzers.of(language.and_then(Language::from_code));
    // Hash and section of each word.
    let mut words: Vec<u64> = Vec::new();
    let ends = starts.iter().skip(1).copied().chain([content.len()]);
    for (section, (start, end)) in starts.iter().copied().zip(ends).enumerate() {
        let first = words.len();
        let number = section as u64 & ((1 << SECTION_BITS) - 1);
        analyzer.tokens(content.get(start..end).unwrap_or_default(), |token| {
            let stem = (token.stem != token.word).then_some(token.stem);
            let terms = [Some(token.word), stem, token.loose_stem];
            words.extend(terms.into_iter().flatten().map(|term| stored_hash(hash(term)) << SECTION_BITS | number));
        });
        words[first..].sort_unstable();
        let mut kept = first;
        for at in first..words.len() {
            if kept == first || words[kept - 1] != words[at] {
                words[kept] = words[at];
                kept += 1;
            }
        }
        words.truncate(kept);
    }
    words.sort_unstable();
    write(&words, bucket_count(starts.len()))
}

fn write(words: &[u64], count: usize) -> Vec<Vec<u8>> {
    let mut buckets = vec![Vec::new(); count];
    let mut list = Vec::new();
    for sections in words.chunk_by(|one, other| one >> SECTION_BITS == other >> SECTION_BITS) {
        let hash = sections[0] >> SECTION_BITS;
        let mut before = 0;
        list.clear();
        for word in sections {
            let section = word & ((1 << SECTION_BITS) - 1);
            varint::push(&mut list, section - before);
            before = section;
        }
        let bucket = &mut buckets[bucket_of(hash, count)];
        bucket.extend_from_slice(&key_of(hash).to_le_bytes());
        varint::push(bucket, list.len() as u64);
        bucket.extend_from_slice(&list);
    }
    buckets.iter_mut().for_each(Vec::shrink_to_fit);
    buckets
}

/// Location of a word's list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    pub bucket: usize,
    key: u32,
}

/// Hash of a term, which tells its word in a document of any number of sections.
#[derive(Clone, Copy, Debug)]
pub(super) struct WordHash(u64);

impl WordHash {
    pub fn new(term: &str) -> Self {
        Self(stored_hash(hash(term)))
    }

    /// Returns the word in a document of this many sections.
    pub fn among(self, sections: usize) -> Word {
        Word { bucket: bucket_of(self.0, bucket_count(sections)), key: key_of(self.0) }
    }
}

impl Word {
    /// Adds the sections that contain the word to `found`, in order. Damaged buckets yield fewer sections.
    pub fn sections(self, buckets: &Buckets, found: &mut Vec<usize>) {
        let mut rest = buckets.get(&self.bucket).map_or(&[][..], Vec::as_slice);
        while let Some((key, after)) = rest.split_first_chunk::<4>() {
            rest = after;
            let Some(length) = varint::take(&mut rest) else { return };
            let Some((list, after)) = rest.split_at_checked(length as usize) else { return };
            rest = after;
            if u32::from_le_bytes(*key) == self.key {
                let (mut list, mut section) = (list, 0_u64);
                while let Some(step) = varint::take(&mut list) {
                    section = section.saturating_add(step);
                    found.push(section as usize);
                }
            }
        }
    }
}

fn stored_hash(hash: u64) -> u64 {
    hash >> SECTION_BITS
}

fn bucket_of(hash: u64, count: usize) -> usize {
    (hash >> (HASH_BITS - count.trailing_zeros())) as usize
}

fn key_of(hash: u64) -> u32 {
    hash as u32
}
