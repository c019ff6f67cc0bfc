#![no_main]
//! Scores any documents for any query: one finite score each, the same every time, also with stored term vectors. Any bytes
//! that decode to a term vector can be ranked.

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use retrieval_core::analysis::Analyzers;
use retrieval_core::passages;
use retrieval_core::phrase::Phrases;
use retrieval_core::rerank::{self, DocumentText, Query, TermVector};
use retrieval_core::statistics::CollectionStatistics;

#[derive(Arbitrary, Debug)]
struct Document {
    title: String,
    description: String,
    content: String,
    language: Option<u8>,
    published_at: Option<i64>,
}

#[derive(Arbitrary, Debug)]
struct Search {
    query: String,
    now: Option<i64>,
    documents: Vec<Document>,
    collection: u64,
    average_length: f64,
    frequencies: Vec<(String, u64)>,
    limit: usize,
    /// Stands for damaged term vectors.
    stored: Vec<u8>,
}

const LANGUAGES: [&str; 6] = ["en", "de", "fr", "ja", "ar", "xx"];

fuzz_target!(|search: Search| {
    let mut analyzers = Analyzers::default();
    let mut phrase = Phrases::new([&*search.query]);
    let spans: Vec<_> = search.documents.iter().map(|document| passages::split(&document.content)).collect();
    let mut vectors = Vec::new();
    for (document, passages) in search.documents.iter().zip(&spans) {
        let Document { title, description, content, .. } = document;
        let language = document.language.map(|number| LANGUAGES[usize::from(number) % LANGUAGES.len()]);
        let _ = phrase.any_in(content, language);
        let text = DocumentText { title, description, content, passages, language };
        vectors.push(TermVector::of(&text, search.limit, &mut analyzers));
    }
    let views: Vec<rerank::Document<'_>> = vectors
        .iter()
        .zip(&search.documents)
        .map(|(terms, document)| rerank::Document { terms, published_at: document.published_at.map(model::Timestamp::from_millis), by_words: true })
        .collect();
    let statistics = CollectionStatistics {
        documents: search.collection,
        average_length: search.average_length,
        document_frequency: search.frequencies.into_iter().collect(),
    };
    let query = Query { text: &search.query, now: search.now.map(model::Timestamp::from_millis) };
    let all = rerank::score(&query, &views, &statistics);
    assert_eq!(all.len(), views.len());
    for (evidence, spans) in all.iter().zip(&spans) {
        assert!(evidence.score.is_finite() && evidence.score >= 0.0, "{}", evidence.score);
        assert!(evidence.passages.iter().all(|position| *position < spans.len()));
    }
    let stored: Vec<TermVector> =
        vectors.iter().map(|vector| TermVector::from_bytes(&vector.to_bytes()).expect("encoded vector")).collect();
    assert_eq!(vectors, stored);
    assert_eq!(all, rerank::score(&query, &views, &statistics));
    if let Some(damaged) = TermVector::from_bytes(&search.stored) {
        rerank::score(&query, &[rerank::Document { terms: &damaged, published_at: None, by_words: true }], &statistics);
    }
});
