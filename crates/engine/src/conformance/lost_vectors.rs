//! Loss of vectors that a server stores apart from the words. For adapters of servers: the caller deletes the vectors behind the
//! engine's back, by the [name](VectorKind::name) of their kind.

use model::{Collection, IndexName};
use retrieval_core::embeddings::{QuantizedVector, VectorSpace};

use super::id;
use crate::{Change, DocumentVectors, EngineErrorKind, IndexDocument, SearchEngine, VectorKind};

const MODEL: VectorKind = VectorKind { space: VectorSpace(7), dimensions: 4 };

/// Returns a web page with a passage in this space.
fn embedded(number: u128, kind: VectorKind) -> Change {
    let codes: Vec<i8> = (1_i8..).take(kind.dimensions).collect();
    let passages = vec![QuantizedVector::from_codes(codes.into()).expect("a vector")];
    let vectors = Some(DocumentVectors { space: kind.space, passages });
    Change::Put(Box::new(IndexDocument { vectors, ..IndexDocument::new(id(number), Collection::Web) }))
}

async fn incomplete(engine: &dyn SearchEngine) -> Vec<IndexName> {
    engine.needs_rebuild().await.expect("a rebuild state")
}

async fn apply(engine: &dyn SearchEngine, changes: Vec<Change>) {
    engine.apply(IndexName::Web, changes).await.expect("changes");
}

pub async fn lost_vectors_are_detected(engine: &dyn SearchEngine, delete: impl AsyncFn(&str)) {
    apply(engine, vec![embedded(1, MODEL)]).await;
    assert!(incomplete(engine).await.is_empty());
    delete(&MODEL.name()).await;
    assert_eq!(incomplete(engine).await, [IndexName::Web]);
    // It would have the vectors of one document only.
    let rejected = engine.apply(IndexName::Web, vec![embedded(2, MODEL)]).await.expect_err("no vectors");
    assert_eq!(rejected.kind, EngineErrorKind::Corrupt);
    assert_eq!(incomplete(engine).await, [IndexName::Web]);

    engine.mark_rebuilt(&[IndexName::Web]).await.expect("the documents are queued");
    assert!(incomplete(engine).await.is_empty());
    engine.clear(IndexName::Web).await.expect("cleared");
    apply(engine, vec![embedded(1, MODEL), embedded(2, MODEL)]).await;
    assert!(incomplete(engine).await.is_empty());
    engine.clear(IndexName::Web).await.expect("cleared");
    assert!(incomplete(engine).await.is_empty());
}

pub async fn vectors_of_an_earlier_model_may_be_deleted(engine: &dyn SearchEngine, delete: impl AsyncFn(&str)) {
    let next = VectorKind { space: VectorSpace(8), ..MODEL };
    apply(engine, vec![embedded(1, MODEL)]).await;
    apply(engine, vec![embedded(2, next)]).await;
    delete(&MODEL.name()).await;
    assert!(incomplete(engine).await.is_empty());
    // Back to the first model.
    apply(engine, vec![embedded(3, MODEL)]).await;
    delete(&next.name()).await;
    assert!(incomplete(engine).await.is_empty());
}
