//! Documents, queries and files made from a seed: the same on every machine.

use super::collection::{Collection, Document};
use super::random::{Random, Zipf};
use std::collections::HashSet;

const VOCABULARY: usize = 50_000;
const DOCUMENT_CHARS: usize = 1_500;
const ONSETS: &[&str] = &[
    "b", "br", "c", "ch", "d", "f", "g", "gr", "h", "j", "k", "l", "m", "n", "p", "pl", "r", "s", "st", "t", "tr", "v",
    "w", "z",
];
const VOWELS: &[&str] = &["a", "e", "i", "o", "u", "ai", "ea", "ou"];
const CODAS: &[&str] = &["", "", "", "l", "m", "n", "r", "s", "t", "nd", "rk"];

/// Draws words as they are drawn in a language: few very often, most seldom.
pub struct Writer {
    random: Random,
    words: Vec<String>,
    ranks: Zipf,
}

impl Writer {
    pub fn new(seed: u64) -> Self {
        // Of its own seed: the vocabulary is the same, however much is written with it.
        let words = vocabulary(&mut Random::new(seed ^ 0x766f_6361_6275_6c61), VOCABULARY);
        Self { random: Random::new(seed), ranks: Zipf::new(words.len()), words }
    }

    /// `documents` documents of about 1,500 characters, and `queries` queries of two to eight words, which are drawn
    /// from the language itself: common words too, as people do.
    pub fn collection(&mut self, documents: usize, queries: usize) -> Collection {
        let documents = (0..documents).map(|number| self.document(number)).collect();
        let mut query = || {
            let words = self.random.between(2, 8);
            self.words(words)
        };
        Collection { name: "generated".to_owned(), queries: (0..queries).map(|_| query()).collect(), documents }
    }

    fn document(&mut self, number: usize) -> Document {
        let words = self.random.between(3, 8);
        Document { id: format!("{number}"), title: capitalized(&self.words(words)), text: self.text(DOCUMENT_CHARS) }
    }

    /// Paragraphs of three to six sentences, at least `chars` characters (all are ASCII).
    pub fn text(&mut self, chars: usize) -> String {
        let mut text = String::with_capacity(chars + 200);
        let mut sentences = 0;
        let mut paragraph = self.random.between(3, 6);
        while text.len() < chars {
            if sentences == paragraph {
                text.push_str("\n\n");
                (sentences, paragraph) = (0, self.random.between(3, 6));
            } else if sentences > 0 {
                text.push(' ');
            }
            let words = self.random.between(6, 18);
            text.push_str(&capitalized(&self.words(words)));
            text.push('.');
            sentences += 1;
        }
        text
    }

    fn words(&mut self, count: usize) -> String {
        let mut words = String::new();
        for number in 0..count {
            if number > 0 {
                words.push(' ');
            }
            words.push_str(&self.words[self.ranks.sample(&mut self.random)]);
        }
        words
    }
}

/// `count` different words; the commoner (the earlier), the shorter.
fn vocabulary(random: &mut Random, count: usize) -> Vec<String> {
    let mut seen = HashSet::with_capacity(count);
    let mut words = Vec::with_capacity(count);
    while words.len() < count {
        let syllables = match words.len() {
            0..200 => 1,
            200..5_000 => 2,
            _ => random.between(2, 4),
        };
        let mut word = String::new();
        for _ in 0..syllables {
            for part in [ONSETS, VOWELS, CODAS] {
                word.push_str(part[random.below(part.len())]);
            }
        }
        if seen.insert(word.clone()) {
            words.push(word);
        }
    }
    words
}

fn capitalized(words: &str) -> String {
    let mut text = words.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::Writer;

    #[test]
    fn a_seed_makes_the_same_collection_of_the_promised_shape() {
        let [one, same, other] = [1, 1, 2].map(|seed| Writer::new(seed).collection(50, 20));
        assert_eq!(one.documents, same.documents);
        assert_eq!(one.queries, same.queries);
        assert_ne!(one.documents, other.documents);
        for document in &one.documents {
            assert!((1_500..1_800).contains(&document.text.len()) && document.text.is_ascii());
            assert!(document.text.contains("\n\n") && !document.title.is_empty());
        }
        assert!(one.queries.iter().all(|query| (2..=8).contains(&query.split(' ').count())));
    }
}
