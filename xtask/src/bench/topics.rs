//! Collection of documents with topics: function words, a generated language, and topics that answer questions.
//! Generated from a seed, identical on every machine.

use super::collection::{Collection, Document};
use super::random::{Random, Zipf};
use super::vocabulary::{capitalized, prose, vocabulary, words};
use std::collections::HashSet;
use std::ops::Range;

const VOCABULARY: usize = 60_000;
const DOCUMENT_CHARS: usize = 1_500;
const DOCUMENTS_A_TOPIC: usize = 100;
const TOPIC_WORDS: usize = 150;
/// Ranks of topic words: neither the most common, which carry no meaning, nor the rarest.
const TOPIC_RANKS: Range<usize> = 200..20_000;

/// Share of function words, slightly below the 45 to 50 % of English prose.
const FUNCTION_SHARE: f64 = 0.42;
/// Share of words from the document's topic.
const TOPIC_SHARE: f64 = 0.22;
/// Share of words from a second topic; the rest comes from the whole language.
const SECOND_TOPIC_SHARE: f64 = 0.06;

/// Real English words for stop word lists and language detection, most common first.
const FUNCTION_WORDS: &[&str] = &[
    "the", "of", "and", "to", "a", "in", "is", "that", "for", "it", "as", "was", "with", "be", "by", "on", "not", "he",
    "this", "are", "or", "his", "from", "at", "which", "but", "have", "an", "had", "they", "you", "were", "there",
    "one", "all", "we", "her", "she", "been", "has", "their", "its", "if", "would", "will", "more", "when", "can",
    "no", "who", "so", "what", "them", "some", "any", "into", "up", "than", "out", "only", "other", "may", "about",
    "such", "these", "could", "then", "do", "also", "most", "must", "each", "between", "those", "over", "how",
    "because", "should", "through", "where", "under", "both", "before", "while", "after", "many", "same", "without",
    "during",
];
/// Question prefixes of every second query; the others are words only.
const QUESTIONS: &[&str] = &["what is the", "how does the", "where is the", "why do the"];

/// Language with its topics.
struct Corpus {
    vocabulary: Vec<String>,
    language: Zipf,
    function: Zipf,
    topics: Vec<Vec<usize>>,
    within_topic: Zipf,
}

/// Generates documents of about 1,500 characters, a hundred per topic, and different queries: three to eight different
/// words of a document's topic.
pub fn collection(seed: u64, documents: usize, queries: usize) -> Collection {
    let corpus = Corpus::new(seed, documents.div_ceil(DOCUMENTS_A_TOPIC).max(2));
    let mut random = Random::new(seed);
    let documents = (0..documents).map(|number| corpus.document(&mut random, number)).collect();
    // Separate seed, so that the questions do not depend on the number of documents per topic.
    let mut random = Random::new(seed ^ 0x7175_6572_6965_7300);
    let mut seen = HashSet::with_capacity(queries);
    let mut different = Vec::with_capacity(queries);
    while different.len() < queries {
        let query = corpus.query(&mut random, different.len());
        if seen.insert(query.clone()) {
            different.push(query);
        }
    }
    Collection { name: "topics".to_owned(), documents, queries: different }
}

impl Corpus {
    fn new(seed: u64, topics: usize) -> Self {
        // Separate seed, so that the language does not depend on the amount of text.
        let mut random = Random::new(seed ^ 0x746f_7069_6373_0000);
        let vocabulary = vocabulary(&mut random, VOCABULARY);
        let mut topic = || {
            let mut words = HashSet::with_capacity(TOPIC_WORDS);
            let mut order = Vec::with_capacity(TOPIC_WORDS);
            while order.len() < TOPIC_WORDS {
                let word = random.between(TOPIC_RANKS.start, TOPIC_RANKS.end - 1);
                if words.insert(word) {
                    order.push(word);
                }
            }
            order
        };
        Self {
            topics: (0..topics).map(|_| topic()).collect(),
            language: Zipf::new(vocabulary.len()),
            function: Zipf::new(FUNCTION_WORDS.len()),
            within_topic: Zipf::new(TOPIC_WORDS),
            vocabulary,
        }
    }

    fn document(&self, random: &mut Random, number: usize) -> Document {
        let [topic, second] = [(); 2].map(|()| random.below(self.topics.len()));
        let count = random.between(3, 8);
        let title = words(random, count, |random| self.topic_word(random, topic));
        let text = prose(random, DOCUMENT_CHARS, |random| {
            const TOPIC: f64 = FUNCTION_SHARE + TOPIC_SHARE;
            const SECOND: f64 = TOPIC + SECOND_TOPIC_SHARE;
            match random.unit() {
                share if share < FUNCTION_SHARE => FUNCTION_WORDS[self.function.sample(random)],
                share if share < TOPIC => self.topic_word(random, topic),
                share if share < SECOND => self.topic_word(random, second),
                _ => &self.vocabulary[self.language.sample(random)],
            }
        });
        Document { id: format!("{number}"), title: capitalized(&title), text }
    }

    /// Picks a random topic: every topic has the same number of documents, so this equals a random document's topic.
    fn query(&self, random: &mut Random, number: usize) -> String {
        let (topic, count) = (random.below(self.topics.len()), random.between(3, 8));
        let mut query: Vec<&str> = Vec::with_capacity(count);
        while query.len() < count {
            let word = self.topic_word(random, topic);
            if !query.contains(&word) {
                query.push(word);
            }
        }
        if number % 2 == 1 {
            query.insert(0, QUESTIONS[random.below(QUESTIONS.len())]);
        }
        query.join(" ")
    }

    fn topic_word(&self, random: &mut Random, topic: usize) -> &str {
        &self.vocabulary[self.topics[topic][self.within_topic.sample(random)]]
    }
}

#[cfg(test)]
mod tests {
    use super::{FUNCTION_WORDS, collection};
    use std::collections::HashSet;

    #[test]
    fn seed_gives_the_same_documents_and_different_queries() {
        let [one, same, other] = [1, 1, 2].map(|seed| collection(seed, 300, 100));
        assert_eq!(one.documents, same.documents);
        assert_eq!(one.queries, same.queries);
        assert_ne!(one.documents, other.documents);
        assert_eq!(one.queries.iter().collect::<HashSet<_>>().len(), 100);
        assert!(one.documents.iter().all(|document| (1_500..1_800).contains(&document.text.len())));
        assert!(one.queries.iter().all(|query| (3..=11).contains(&query.split(' ').count())));
    }

    #[test]
    fn queries_match_documents_of_their_topic() {
        let made = collection(1, 300, 20);
        let texts: Vec<HashSet<&str>> = made
            .documents
            .iter()
            .map(|document| document.text.split(|c: char| !c.is_ascii_alphabetic()).collect())
            .collect();
        for query in &made.queries {
            let words: Vec<&str> = query.split(' ').filter(|word| !FUNCTION_WORDS.contains(word)).collect();
            let mut held: Vec<usize> =
                texts.iter().map(|text| words.iter().filter(|word| text.contains(*word)).count()).collect();
            held.sort_unstable();
            // Three topics: a third of the documents match, the others contain the words by chance only.
            assert!(held[299] * 2 >= words.len(), "no document contains half of `{query}`");
            assert!(held[50] * 4 <= words.len(), "documents of other topics contain `{query}` too");
        }
    }
}
