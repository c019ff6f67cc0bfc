//! Documents, queries and files generated from a seed, identical on every machine.

use super::collection::{Collection, Document};
use super::random::{Random, Zipf};
use super::vocabulary::{capitalized, prose, vocabulary, words};

const VOCABULARY: usize = 50_000;
const DOCUMENT_CHARS: usize = 1_500;

/// Text generator with a natural word distribution: few words are frequent, most are rare.
pub struct Writer {
    random: Random,
    words: Vec<String>,
    ranks: Zipf,
}

impl Writer {
    pub fn new(seed: u64) -> Self {
        // Separate seed, so that the vocabulary does not depend on the amount of text.
        let words = vocabulary(&mut Random::new(seed ^ 0x766f_6361_6275_6c61), VOCABULARY);
        Self { random: Random::new(seed), ranks: Zipf::new(words.len()), words }
    }

    /// Generates documents of about 1,500 characters, and queries of two to eight words. Query words have the natural
    /// distribution too, so they include common words.
    pub fn collection(&mut self, documents: usize, queries: usize) -> Collection {
        let documents = (0..documents).map(|number| self.document(number)).collect();
        let queries = (0..queries).map(|_| self.words(2, 8)).collect();
        Collection { name: "generated".to_owned(), queries, documents }
    }

    fn document(&mut self, number: usize) -> Document {
        Document { id: format!("{number}"), title: capitalized(&self.words(3, 8)), text: self.text(DOCUMENT_CHARS) }
    }

    /// Returns paragraphs of at least `chars` characters, all ASCII.
    pub fn text(&mut self, chars: usize) -> String {
        prose(&mut self.random, chars, |random| &self.words[self.ranks.sample(random)])
    }

    fn words(&mut self, least: usize, most: usize) -> String {
        let count = self.random.between(least, most);
        words(&mut self.random, count, |random| &self.words[self.ranks.sample(random)])
    }
}

#[cfg(test)]
mod tests {
    use super::Writer;

    #[test]
    fn seed_gives_the_same_collection_of_the_documented_shape() {
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
