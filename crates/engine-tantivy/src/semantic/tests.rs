use std::time::Duration;

use engine::{Change, DocumentVectors, Filters, FirstStageRequest, IndexDocument, SearchEngine, SemanticRequest};
use futures_util::future::join;
use model::{Collection, DocId, IndexName};
use retrieval_core::embeddings::{QuantizedVector, VectorSpace};
use uuid::Uuid;

use crate::{TantivyEngine, TantivyOptions};

const SPACE: VectorSpace = VectorSpace(7);
/// Limit of waits that end early.
const PATIENCE: Duration = Duration::from_secs(60);

fn vector(number: u32) -> QuantizedVector {
    QuantizedVector::quantize(&[1.0, (number % 97) as f32, (number % 89) as f32]).expect("a vector")
}

/// Returns a document of 80 passages.
fn document(number: u32) -> Change {
    let passages = (0..80).map(|passage| vector(number * 80 + passage)).collect();
    Change::Put(Box::new(IndexDocument {
        body: "copper pipe".to_owned(),
        vectors: Some(DocumentVectors { space: SPACE, passages }),
        ..IndexDocument::new(DocId(Uuid::from_u128(u128::from(number))), Collection::Web)
    }))
}

#[tokio::test]
async fn searches_by_words_do_not_wait_for_sketches() {
    let folder = tempfile::tempdir().expect("a folder");
    // One search at a time, and one segment.
    let options = TantivyOptions { threads: 1, ..TantivyOptions::default() };
    let engine = TantivyEngine::open(folder.path(), options).expect("a new index");
    engine.apply(IndexName::Web, (0..20).map(document).collect()).await.expect("changes");
    let by_meaning = SemanticRequest {
        collection: Collection::Web,
        space: SPACE,
        vector: vector(5),
        filters: Filters::default(),
        limit: 10,
    };
    let by_words = FirstStageRequest {
        collection: Collection::Web,
        texts: vec!["copper".to_owned()],
        exact_phrase: false,
        rerank_text: None,
        filters: Filters::default(),
        limit: 10,
    };
    // As if another search were building sketches.
    let turn = engine.inner.web.turn_to_build().await;
    let others = async {
        for _ in 0..3 {
            assert_eq!(engine.first_stage(&by_words).await.expect("a search").total, 20);
        }
        drop(turn);
    };
    let both = join(engine.semantic(&by_meaning), others);
    let (hits, ()) = tokio::time::timeout(PATIENCE, both).await.expect("no search by words waits");
    assert_eq!(hits.expect("hits").len(), 10);
    assert_eq!(engine.inner.searches.available_permits(), 1);
}
