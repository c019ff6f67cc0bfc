//! Phrases, evaluated as sets of documents per segment.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, HashMap};

use retrieval_core::phrase::Sequence;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, Term};

use crate::bits::Bits;
use crate::schema::Fields;

/// Words that occur adjacent and in order.
///
/// A `PhraseQuery` of tantivy reads the positions of a word again for each of its places in the phrase: thousands of equal words take
/// minutes in a long document. Here the positions of each distinct word are read once.
pub struct Phrase {
    field: Field,
    /// Distinct words, each with the number of its places in the phrase.
    words: Vec<(Term, u32)>,
    /// Places of the phrase, as indexes into `words`.
    places: Vec<usize>,
}

impl Phrase {
    pub fn new(words: &[String], prefix: &str, fields: &Fields) -> Self {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut distinct: Vec<(Term, u32)> = Vec::new();
        let mut places = Vec::with_capacity(words.len());
        for word in words {
            let number = *numbers.entry(word.as_str()).or_insert(distinct.len());
            match distinct.get_mut(number) {
                Some((_, times)) => *times += 1,
                None => distinct.push((fields.scoped_term(fields.words, prefix, word), 1)),
            }
            places.push(number);
        }
        Self { field: fields.words, words: distinct, places }
    }

    /// Adds the documents of a segment that contain the phrase to `matching`, deleted ones included. Looks at `candidates` only;
    /// `None` for all documents.
    pub fn add_matching(
        &self,
        reader: &SegmentReader,
        candidates: Option<&Bits>,
        matching: &mut Bits,
    ) -> tantivy::Result<()> {
        let Some(mut sequence) = Sequence::new(self.places.clone()) else { return Ok(()) };
        let Some(mut lists) = self.open(reader)? else { return Ok(()) };
        let mut merged = MergedPositions::default();
        let mut doc = first_common(&mut lists, 0);
        while doc < TERMINATED {
            let is_candidate = !matching.contains(doc) && candidates.is_none_or(|candidates| candidates.contains(doc));
            if is_candidate && (self.is_single_word() || merged.contain(&mut lists, &mut sequence)) {
                matching.insert(doc);
            }
            doc = first_common(&mut lists, doc + 1);
        }
        Ok(())
    }

    fn is_single_word(&self) -> bool {
        self.places.len() == 1
    }

    /// Opens the postings of the words, the rarest first. Returns `None` if the segment lacks one of them.
    fn open(&self, reader: &SegmentReader) -> tantivy::Result<Option<Vec<WordPostings>>> {
        let index = reader.inverted_index(self.field)?;
        let mut found = Vec::with_capacity(self.words.len());
        for (term, _) in &self.words {
            let Some(info) = index.get_term_info(term)? else { return Ok(None) };
            found.push(info);
        }
        let option = match self.is_single_word() {
            true => IndexRecordOption::Basic,
            false => IndexRecordOption::WithFreqsAndPositions,
        };
        let mut lists = Vec::with_capacity(found.len());
        for (word, ((_, times), info)) in self.words.iter().zip(&found).enumerate() {
            let postings = index.read_postings_from_terminfo(info, option)?;
            lists.push(WordPostings { word, times: *times, postings });
        }
        lists.sort_by_key(|list| list.postings.doc_freq());
        Ok(Some(lists))
    }
}

/// Postings of one word of a phrase.
struct WordPostings {
    /// Index of the word in the phrase.
    word: usize,
    /// Number of its places in the phrase.
    times: u32,
    postings: SegmentPostings,
}

/// Moves all lists to their first common document from `doc` on, and returns it; `TERMINATED` if there is none.
fn first_common(lists: &mut [WordPostings], mut doc: DocId) -> DocId {
    'candidates: loop {
        for WordPostings { postings, .. } in lists.iter_mut() {
            if postings.doc() < doc {
                postings.seek(doc);
            }
            if postings.doc() > doc {
                doc = postings.doc();
                continue 'candidates;
            }
        }
        return doc;
    }
}

/// Positions of several words in one document, in ascending order. Keeps its memory for the next document.
#[derive(Default)]
struct MergedPositions {
    /// Positions of one word after another.
    positions: Vec<u32>,
    /// Next position of each word, the lowest first.
    heads: BinaryHeap<Reverse<Head>>,
}

/// Next position of a word, and the place of its further ones. Ordered by position.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
struct Head {
    position: u32,
    word: usize,
    next: usize,
    end: usize,
}

impl MergedPositions {
    /// Returns true if the current document of all lists contains the sequence of words.
    fn contain(&mut self, lists: &mut [WordPostings], sequence: &mut Sequence<usize>) -> bool {
        if lists.iter().any(|list| list.postings.term_freq() < list.times) {
            return false;
        }
        self.read(lists);
        sequence.restart();
        let mut adjacent = 0;
        while let Some(mut head) = self.heads.peek_mut() {
            let Head { position, word, next, end } = head.0;
            if position != adjacent {
                sequence.restart();
            }
            adjacent = position.saturating_add(1);
            if sequence.ends_with(&word) {
                return true;
            }
            match self.positions.get(next) {
                Some(following) if next < end => {
                    head.0.position = *following;
                    head.0.next = next + 1;
                }
                _ => {
                    PeekMut::pop(head);
                }
            }
        }
        false
    }

    /// Reads the positions in the current document of all lists.
    fn read(&mut self, lists: &mut [WordPostings]) {
        self.positions.clear();
        self.heads.clear();
        for list in lists {
            let start = self.positions.len();
            list.postings.append_positions_with_offset(0, &mut self.positions);
            let end = self.positions.len();
            if let Some(position) = self.positions.get(start) {
                self.heads.push(Reverse(Head { position: *position, word: list.word, next: start + 1, end }));
            }
        }
    }
}
