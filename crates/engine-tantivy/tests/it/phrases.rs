use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use engine::{Change, Filters, FirstStageRequest, IndexDocument, SearchEngine};
use engine_tantivy::TantivyEngine;
use model::{Collection, DocId, IndexName};
use uuid::Uuid;

use crate::{open, put};

/// Returns the numbers of the documents that contain any of the phrases.
async fn found(engine: &TantivyEngine, phrases: &[String]) -> BTreeSet<u128> {
    let request = FirstStageRequest {
        collection: Collection::Web,
        texts: phrases.to_vec(),
        exact_phrase: true,
        rerank_text: None,
        filters: Filters::default(),
        limit: 1_000,
    };
    let response = engine.first_stage(&request).await.expect("a search");
    assert_eq!(response.total, response.hits.len() as u64);
    response.hits.iter().map(|hit| hit.doc_id.0.as_u128()).collect()
}

#[tokio::test]
async fn long_phrase_of_one_word_is_searched_quickly_in_a_long_document() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(folder.path());
    let long = format!("b {}", "a ".repeat(1_000_000));
    let changes = vec![put(1, &long), put(2, &"a ".repeat(4_095)), put(3, &"a b ".repeat(10_000))];
    engine.apply(IndexName::Web, changes).await.expect("changes");
    let started = Instant::now();
    assert_eq!(found(&engine, &["a ".repeat(4_096)]).await, BTreeSet::from([1]));
    assert_eq!(found(&engine, &[format!("{}b", "a ".repeat(4_096))]).await, BTreeSet::new());
    assert_eq!(found(&engine, &[format!("b {}", "a ".repeat(4_096))]).await, BTreeSet::from([1]));
    let elapsed = started.elapsed();
    assert!(elapsed < Duration::from_secs(5), "{elapsed:?}");
}

const WORDS: [&str; 3] = ["a", "b", "c"];

/// Words of the fields of a document, as indexes into [`WORDS`].
struct Document {
    title: Vec<usize>,
    headings: Vec<Vec<usize>>,
    body: Vec<usize>,
}

impl Document {
    fn contains(&self, phrase: &[usize]) -> bool {
        let mut fields = self.headings.iter().chain([&self.title, &self.body]);
        fields.any(|field| field.windows(phrase.len()).any(|words| words == phrase))
    }

    fn put(&self, number: u128) -> Change {
        let headings: Vec<String> = self.headings.iter().map(|line| text(line)).collect();
        Change::Put(Box::new(IndexDocument {
            title: text(&self.title),
            headings: headings.join("\n"),
            body: text(&self.body),
            ..IndexDocument::new(DocId(Uuid::from_u128(number)), Collection::Web)
        }))
    }
}

fn text(words: &[usize]) -> String {
    words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ")
}

/// Sequence of pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn words(&mut self, max_length: u64) -> Vec<usize> {
        (0..self.below(max_length + 1)).map(|_| self.below(3) as usize).collect()
    }
}

#[tokio::test]
async fn phrases_are_found_where_a_naive_search_finds_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(folder.path());
    let mut random = Random(7);
    let documents: Vec<Document> = (0..240)
        .map(|_| Document {
            title: random.words(3),
            headings: (0..2).map(|_| random.words(3)).collect(),
            body: random.words(20),
        })
        .collect();
    // Two segments.
    for half in [0..120, 120..240] {
        let changes = half.map(|number| documents[number].put(number as u128));
        engine.apply(IndexName::Web, changes.collect()).await.expect("changes");
    }
    let expected = |phrase: &[usize]| -> BTreeSet<u128> {
        documents.iter().zip(0..).filter(|(document, _)| document.contains(phrase)).map(|(_, number)| number).collect()
    };
    let mut phrases: Vec<Vec<usize>> = (0..WORDS.len()).map(|word| vec![word]).collect();
    for length in 2..=3 {
        let shorter: Vec<Vec<usize>> = phrases.iter().filter(|phrase| phrase.len() == length - 1).cloned().collect();
        for word in 0..WORDS.len() {
            phrases.extend(shorter.iter().map(|phrase| [&phrase[..], &[word]].concat()));
        }
    }
    phrases.extend((0..120).map(|_| random.words(3)).map(|end| [&end[..], &end[..], &[0]].concat()));
    phrases.extend((0..60).map(|_| random.words(6)).filter(|phrase| !phrase.is_empty()));
    for phrase in &phrases {
        assert_eq!(found(&engine, &[text(phrase)]).await, expected(phrase), "{phrase:?}");
    }
    for pair in phrases.windows(2).step_by(5) {
        let any: BTreeSet<u128> = pair.iter().flat_map(|phrase| expected(phrase)).collect();
        assert_eq!(found(&engine, &[text(&pair[0]), text(&pair[1])]).await, any, "{pair:?}");
    }
}
