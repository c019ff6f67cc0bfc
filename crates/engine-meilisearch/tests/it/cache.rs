//! Responses to earlier searches. These tests need no real server.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use engine::{SearchEngine, tokens};
use engine_meilisearch::MeilisearchEngine;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{request, scripted};

/// Server whose every word is in one document.
#[derive(Default)]
struct Scripted {
    /// Time of the last change of the index, and the document.
    index: Mutex<(String, u128)>,
    /// Number of searches for words.
    searches: AtomicUsize,
}

impl Scripted {
    fn change(&self, time: &str, document: u128) {
        *self.index.lock().expect("a lock") = (time.to_owned(), document);
    }

    fn response(&self, body: &[u8]) -> Value {
        let (time, document) = self.index.lock().expect("a lock").clone();
        let Ok(batch) = serde_json::from_slice::<Value>(body) else { return json!({ "updatedAt": time }) };
        let answer = |query: &Value| {
            if query["facets"].is_array() {
                let facets = json!({ "length": { "200": 1_000 }, "language": { "en": 1_000 } });
                return json!({ "hits": [], "estimatedTotalHits": 1_000, "facetDistribution": facets });
            }
            self.searches.fetch_add(1, Ordering::Relaxed);
            let hit = json!({ "id": Uuid::from_u128(document), "length": 200, "_rankingScore": 0.5 });
            json!({ "hits": [hit], "estimatedTotalHits": 1 })
        };
        json!({ "results": batch["queries"].as_array().into_iter().flatten().map(answer).collect::<Vec<_>>() })
    }
}

async fn found(engine: &MeilisearchEngine, text: &str) -> Vec<u128> {
    let response = engine.first_stage(&request(text)).await.expect("hits");
    response.hits.iter().map(|hit| hit.doc_id.0.as_u128()).collect()
}

#[tokio::test]
async fn words_searched_before_cost_no_search_until_the_index_changes() {
    let server = Arc::new(Scripted::default());
    server.change("2026-01-01T00:00:00.000000001Z", 1);
    let answering = Arc::clone(&server);
    let engine = scripted(move |body| ("200 OK", answering.response(body).to_string())).await;
    let searches = || server.searches.load(Ordering::Relaxed);
    // The state of the index is not known before the first search.
    for _ in 0..2 {
        assert_eq!(found(&engine, "copper pump").await, [1]);
    }
    let before = searches();
    assert_eq!(found(&engine, "copper pump").await, [1]);
    assert_eq!(searches(), before, "both words are known");
    assert_eq!(found(&engine, "copper valve").await, [1]);
    assert_eq!(searches(), before + 1, "only one word is new");

    server.change("2026-01-01T00:00:00.000000002Z", 2);
    assert_eq!(found(&engine, "copper pump").await, [2]);
    assert_eq!(found(&engine, "copper valve").await, [2]);
    let before = searches();
    assert_eq!(found(&engine, "copper valve").await, [2]);
    assert_eq!(searches(), before);
}

#[tokio::test]
async fn language_first_indexed_by_another_instance_is_searched_at_once() {
    // Language of the only document, by which the states of the index differ.
    let language = Arc::new(Mutex::new("en"));
    let indexed = Arc::clone(&language);
    let engine = scripted(move |body| {
        let language = *indexed.lock().expect("a lock");
        let Ok(batch) = serde_json::from_slice::<Value>(body) else {
            return ("200 OK", json!({ "updatedAt": language }).to_string());
        };
        let answer = |query: &Value| {
            if query["facets"].is_array() {
                let facets = json!({ "length": { "200": 1 }, "language": { (language): 1 } });
                return json!({ "hits": [], "estimatedTotalHits": 1, "facetDistribution": facets });
            }
            let mut hits = Vec::new();
            if language == "de" && query["q"] == tokens::stem("haus") {
                hits.push(json!({ "id": Uuid::from_u128(7), "length": 200, "_rankingScore": 0.5 }));
            }
            json!({ "hits": hits, "estimatedTotalHits": hits.len() })
        };
        let results: Vec<Value> = batch["queries"].as_array().into_iter().flatten().map(answer).collect();
        ("200 OK", json!({ "results": results }).to_string())
    });
    let engine = engine.await;
    for _ in 0..2 {
        assert!(found(&engine, "Häuser").await.is_empty());
    }
    *language.lock().expect("a lock") = "de";
    for _ in 0..2 {
        assert_eq!(found(&engine, "Häuser").await, [7]);
    }
}
