//! Lifecycle of indexes: missing, created, lost.

use std::time::Duration;

use engine::{
    Change, DocumentVectors, EngineErrorKind, Filters, FirstStageRequest, IndexDocument, SearchEngine, SemanticRequest,
    VectorKind, conformance,
};
use model::{Collection, DocId, Generation, IndexName};
use retrieval_core::embeddings::{QuantizedVector, VectorSpace};
use uuid::Uuid;

use crate::support::{Server, put, request};

#[tokio::test]
async fn missing_indexes_need_rebuild_and_reject_changes() {
    let Some(server) = Server::from_environment() else { return };
    assert_eq!(server.needs_rebuild().await.expect("a rebuild state"), IndexName::ALL);
    let early = server.apply(IndexName::Web, vec![put(1, "copper")]).await.expect_err("no index");
    assert_eq!(early.kind, EngineErrorKind::Corrupt);
    // The server did not create an index with default settings.
    assert_eq!(server.needs_rebuild().await.expect("a rebuild state"), IndexName::ALL);
    assert!(server.first_stage(&request("copper")).await.is_err());
    assert!(server.ping().await.is_err());

    server.mark_rebuilt(IndexName::ALL).await.expect("the indexes are created");
    assert!(server.needs_rebuild().await.expect("a rebuild state").is_empty());
    server.ping().await.expect("a ping");
    server.apply(IndexName::Web, vec![put(1, "copper")]).await.expect("changes");
    // Idempotent, since another process may do the same.
    server.mark_rebuilt(IndexName::ALL).await.expect("the indexes exist");
    assert_eq!(server.first_stage(&request("copper")).await.expect("hits").total, 1);
}

#[tokio::test]
async fn lost_indexes_are_detected() {
    let Some(server) = Server::with_indexes().await else { return };
    server.apply(IndexName::Web, vec![put(1, "copper")]).await.expect("changes");
    server.delete_indexes().await;
    let lost = async {
        while server.needs_rebuild().await.expect("a rebuild state").len() < 2 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), lost).await.expect("the indexes are deleted");
    let rejected = server.apply(IndexName::Web, vec![put(2, "brass")]).await.expect_err("no index");
    assert_eq!(rejected.kind, EngineErrorKind::Corrupt);
}

/// Deletes the vectors of a kind.
async fn delete_vectors(server: &Server, kind: &str) {
    server.delete_indexes_with(kind).await;
    // The server executes its tasks in order.
    server.set_generation(IndexName::Web, Generation(Uuid::new_v4())).await.expect("a generation");
}

#[tokio::test]
async fn lost_vectors_are_detected() {
    let Some(server) = Server::with_indexes().await else { return };
    conformance::lost_vectors_are_detected(&*server, async |kind| delete_vectors(&server, kind).await).await;
}

#[tokio::test]
async fn vectors_of_an_earlier_model_may_be_deleted() {
    let Some(server) = Server::with_indexes().await else { return };
    conformance::vectors_of_an_earlier_model_may_be_deleted(&*server, async |kind| delete_vectors(&server, kind).await)
        .await;
}

/// Deletes an index, given by its name without the prefix, and lets the server create it with default settings.
async fn replace_index(server: &Server, name: &str) {
    server.delete_indexes_with(name).await;
    server.add_plain_document(name).await;
    // The server executes its tasks in order.
    server.set_generation(IndexName::Web, Generation(Uuid::new_v4())).await.expect("a generation");
    for _ in 0..2 {
        assert_eq!(server.needs_rebuild().await.expect("a rebuild state"), [IndexName::Web]);
    }
    server.mark_rebuilt(&[IndexName::Web]).await.expect("the documents are queued");
    assert!(server.needs_rebuild().await.expect("a rebuild state").is_empty());
    server.clear(IndexName::Web).await.expect("cleared");
}

#[tokio::test]
async fn index_that_the_server_created_by_itself_is_rebuilt() {
    let Some(server) = Server::with_indexes().await else { return };
    server.apply(IndexName::Web, vec![put(1, "copper")]).await.expect("changes");
    replace_index(&server, "web-v4").await;
    server.apply(IndexName::Web, vec![put(2, "copper")]).await.expect("changes");
    let found = server.first_stage(&request("copper")).await.expect("hits");
    assert_eq!((found.total, found.hits[0].doc_id), (1, DocId(Uuid::from_u128(2))));
}

#[tokio::test]
async fn index_of_vectors_that_the_server_created_by_itself_is_rebuilt() {
    let Some(server) = Server::with_indexes().await else { return };
    let vector = QuantizedVector::from_codes([1, 2, 3].into()).expect("a vector");
    let kind = VectorKind { space: VectorSpace(7), dimensions: vector.dimensions() };
    let embedded = |number: u128| {
        let vectors = Some(DocumentVectors { space: kind.space, passages: vec![vector.clone()] });
        let doc_id = DocId(Uuid::from_u128(number));
        Change::Put(Box::new(IndexDocument { vectors, ..IndexDocument::new(doc_id, Collection::Web) }))
    };
    server.apply(IndexName::Web, vec![embedded(1)]).await.expect("changes");
    replace_index(&server, &format!("web-v4-vectors-{}", kind.name())).await;
    server.apply(IndexName::Web, vec![embedded(2)]).await.expect("changes");
    let request = SemanticRequest {
        collection: Collection::Web,
        space: kind.space,
        vector: vector.clone(),
        filters: Filters::default(),
        limit: 10,
    };
    let hits = server.semantic(&request).await.expect("hits");
    assert_eq!(hits.iter().map(|hit| hit.doc_id.0.as_u128()).collect::<Vec<u128>>(), [2]);
}

#[tokio::test]
async fn changes_of_other_instances_are_found_at_once() {
    let Some(server) = Server::with_indexes().await else { return };
    let other = engine_meilisearch::MeilisearchEngine::new(server.options.clone()).expect("a client");
    other.apply(IndexName::Web, vec![put(100, "brass")]).await.expect("changes");
    for _ in 0..2 {
        assert_eq!(
            server.first_stage(&request("copper")).await.expect("hits").hits,
            [],
            "no document has the word yet"
        );
    }
    for number in 1..=4 {
        other.apply(IndexName::Web, vec![put(number, "copper")]).await.expect("changes");
        // Twice, so that the second search may use what the first one found.
        for _ in 0..2 {
            assert_eq!(server.first_stage(&request("copper")).await.expect("hits").hits.len() as u128, number);
        }
    }
    assert_eq!(server.first_stage(&request("Häuser")).await.expect("hits").total, 0);
    let german = IndexDocument {
        language: Some("de".to_owned()),
        body: "Haus".to_owned(),
        ..IndexDocument::new(DocId(Uuid::from_u128(101)), Collection::Web)
    };
    other.apply(IndexName::Web, vec![Change::Put(Box::new(german))]).await.expect("changes");
    for _ in 0..2 {
        assert_eq!(server.first_stage(&request("Häuser")).await.expect("hits").total, 1, "the first one in German");
    }
}

#[tokio::test]
async fn wrong_key_is_retryable() {
    let Some(server) = Server::with_indexes().await else { return };
    if server.options.api_key.is_none() {
        return;
    }
    let options = engine_meilisearch::MeilisearchOptions { api_key: Some("wrong".into()), ..server.options.clone() };
    let unauthorized = engine_meilisearch::MeilisearchEngine::new(options).expect("a client");
    let rejected = unauthorized.apply(IndexName::Web, vec![put(1, "copper")]).await.expect_err("a wrong key");
    assert_eq!(rejected.kind, EngineErrorKind::Unavailable);
    assert!(unauthorized.needs_rebuild().await.is_err());
}

#[tokio::test]
async fn large_batch_is_split_into_several_bodies() {
    let Some(server) = Server::with_indexes().await else { return };
    // About 2.3 MB each as terms, so that they take more than one body of 75 MB.
    const DOCUMENTS: u64 = 40;
    let word = |number: u32| format!("{number:024}");
    // Longer than the part of an attribute that the server reads.
    let long: String = (0..40_000).map(|number| word(number) + " ").collect();
    let changes = (1..=DOCUMENTS).map(|number| put(number.into(), &long)).collect();
    server.apply(IndexName::Web, changes).await.expect("changes");
    assert_eq!(server.document_count(IndexName::Web).await.expect("a count"), DOCUMENTS);
    let (last, before) = (word(39_999), word(39_998));
    let response = server.first_stage(&request(&last)).await.expect("hits");
    assert_eq!(response.total, DOCUMENTS);
    assert_eq!(response.statistics.document_frequency.get(&last), Some(&DOCUMENTS));
    let phrase = FirstStageRequest { exact_phrase: true, ..request(&format!("{before} {last}")) };
    assert_eq!(server.first_stage(&phrase).await.expect("hits").total, DOCUMENTS);
}

#[tokio::test]
async fn time_of_a_task_is_known_after_the_first_generation() {
    let Some(server) = Server::with_indexes().await else { return };
    assert_eq!(server.task_time().await.expect("no time"), None);
    server.set_generation(IndexName::Web, Generation(Uuid::new_v4())).await.expect("a generation");
    let time = server.task_time().await.expect("a time").expect("one task");
    assert!(time > Duration::ZERO && time < Duration::from_secs(60), "{time:?}");
}
