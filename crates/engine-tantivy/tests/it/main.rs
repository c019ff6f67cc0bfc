//! Tests of the embedded engine: conformance, reopening, locking, recovery, crashes, concurrency, phrases, vectors.

mod concurrency;
mod conformance;
mod crash;
mod index_dir;
mod phrases;
mod vectors;

use engine::{Change, Filters, FirstStageRequest, IndexDocument, SearchEngine};
use engine_tantivy::{TantivyEngine, TantivyOptions};
use model::{Collection, DocId, IndexName};
use uuid::Uuid;

fn open(folder: &std::path::Path) -> TantivyEngine {
    TantivyEngine::open(folder, TantivyOptions::default()).expect("the index opens")
}

fn put(number: u128, body: &str) -> Change {
    Change::Put(Box::new(IndexDocument {
        body: body.to_owned(),
        ..IndexDocument::new(DocId(Uuid::from_u128(number)), Collection::Web)
    }))
}

async fn total(engine: &TantivyEngine, text: &str) -> u64 {
    let request = FirstStageRequest {
        collection: Collection::Web,
        texts: vec![text.to_owned()],
        exact_phrase: false,
        rerank_text: None,
        filters: Filters::default(),
        limit: 10,
    };
    engine.first_stage(&request).await.expect("a search").total
}

async fn count(engine: &TantivyEngine) -> u64 {
    engine.document_count(IndexName::Web).await.expect("a count")
}
