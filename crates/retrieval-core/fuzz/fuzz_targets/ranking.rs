#![no_main]
//! Fuzzes ranking: every candidate is ranked once, scores are finite, and the result is reproducible.

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use retrieval_core::analysis::Analyzers;
use retrieval_core::passages;
use retrieval_core::phrase::Phrase;
use retrieval_core::rerank::{Candidate, DocumentText, Query, TermVector, rerank};
use retrieval_core::statistics::CollectionStatistics;

#[derive(Arbitrary, Debug)]
struct Document {
    title: String,
    description: String,
    content: String,
    language: Option<u8>,
    score: f32,
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
}

const LANGUAGES: [&str; 6] = ["en", "de", "fr", "ja", "ar", "xx"];

fuzz_target!(|search: Search| {
    let mut analyzers = Analyzers::default();
    let mut phrase = Phrase::new(&search.query);
    let spans: Vec<_> = search.documents.iter().map(|document| passages::split(&document.content)).collect();
    let mut vectors = Vec::new();
    for (document, passages) in search.documents.iter().zip(&spans) {
        let Document { title, description, content, .. } = document;
        let language = document.language.map(|number| LANGUAGES[usize::from(number) % LANGUAGES.len()]);
        let _ = phrase.is_in(content, language);
        let text = DocumentText { title, description, content, passages, language };
        vectors.push(TermVector::of(&text, search.limit, &mut analyzers));
    }
    let candidates: Vec<Candidate<'_>> = vectors
        .iter()
        .zip(&search.documents)
        .map(|(terms, document)| Candidate {
            terms,
            first_stage_score: document.score,
            published_at: document.published_at,
        })
        .collect();
    let statistics = CollectionStatistics {
        documents: search.collection,
        average_length: search.average_length,
        document_frequency: search.frequencies.into_iter().collect(),
    };
    let query = Query { text: &search.query, now: search.now };
    let ranked = rerank(&query, &candidates, &statistics);
    let mut seen: Vec<usize> = ranked.iter().map(|ranked| ranked.index).collect();
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..candidates.len()));
    for one in &ranked {
        assert!(one.score.is_finite() && one.score >= 0.0, "{}", one.score);
        assert!(one.passages.iter().all(|passage| passage.position < spans[one.index].len()));
    }
    assert!(ranked.is_sorted_by(|a, b| a.score >= b.score));
    assert_eq!(ranked, rerank(&query, &candidates, &statistics));
});
