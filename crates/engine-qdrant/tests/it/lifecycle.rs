//! Lifecycle of indexes: missing, created, interrupted, lost.

use engine::{
    Change, DocumentVectors, EngineErrorKind, FirstStageRequest, IndexDocument, SearchEngine, SemanticRequest,
    conformance,
};
use model::{Collection, DocId, IndexName};
use qdrant_client::qdrant::DeleteFieldIndexCollectionBuilder;
use retrieval_core::embeddings::{QuantizedVector, VectorSpace};
use uuid::Uuid;

use crate::support::{Server, put, request};

#[tokio::test]
async fn missing_indexes_need_rebuild_and_reject_changes() {
    let Some(server) = Server::from_environment() else { return };
    assert_eq!(server.needs_rebuild().await.expect("a rebuild state"), IndexName::ALL);
    let early = server.apply(IndexName::Web, vec![put(1, "copper")]).await.expect_err("no index");
    assert_eq!(early.kind, EngineErrorKind::Corrupt);
    assert_eq!(server.needs_rebuild().await.expect("a rebuild state"), IndexName::ALL);
    let search = server.first_stage(&request("copper")).await.expect_err("no index");
    assert_eq!(search.kind, EngineErrorKind::Corrupt);
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
async fn interrupted_creation_is_completed() {
    let Some(server) = Server::with_indexes().await else { return };
    let alias = format!("{}web-v3", server.options.prefix);
    let tokens = DeleteFieldIndexCollectionBuilder::new(alias.clone(), "tokens").wait(true);
    server.client().delete_field_index(tokens).await.expect("a collection without an index");
    server.client().delete_alias(alias).await.expect("a collection without its alias");
    assert_eq!(server.needs_rebuild().await.expect("a rebuild state"), [IndexName::Web]);
    server.mark_rebuilt(&[IndexName::Web]).await.expect("the index is created");
    server.apply(IndexName::Web, vec![put(1, "copper")]).await.expect("changes");
    assert_eq!(server.first_stage(&request("copper")).await.expect("hits").total, 1);
}

#[tokio::test]
async fn lost_indexes_are_detected() {
    let Some(server) = Server::with_indexes().await else { return };
    server.apply(IndexName::Web, vec![put(1, "copper")]).await.expect("changes");
    server.delete_collections().await;
    assert_eq!(server.needs_rebuild().await.expect("a rebuild state"), IndexName::ALL);
    let rejected = server.apply(IndexName::Web, vec![put(2, "brass")]).await.expect_err("no index");
    assert_eq!(rejected.kind, EngineErrorKind::Corrupt);
    assert_eq!(server.generation(IndexName::Web).await.expect("no generation"), None);
}

#[tokio::test]
async fn lost_vectors_are_detected() {
    let Some(server) = Server::with_indexes().await else { return };
    conformance::lost_vectors_are_detected(&*server, async |kind| server.delete_collections_with(kind).await).await;
}

#[tokio::test]
async fn vectors_of_an_earlier_model_may_be_deleted() {
    let Some(server) = Server::with_indexes().await else { return };
    conformance::vectors_of_an_earlier_model_may_be_deleted(&*server, async |kind| {
        server.delete_collections_with(kind).await
    })
    .await;
}

#[tokio::test]
async fn wrong_key_is_retryable() {
    let Some(server) = Server::with_indexes().await else { return };
    if server.options.api_key.is_none() {
        return;
    }
    let options = engine_qdrant::QdrantOptions { api_key: Some("wrong".into()), ..server.options.clone() };
    let unauthorized = engine_qdrant::QdrantEngine::new(options).expect("a client");
    let rejected = unauthorized.apply(IndexName::Web, vec![put(1, "copper")]).await.expect_err("a wrong key");
    assert_eq!(rejected.kind, EngineErrorKind::Unavailable);
    assert!(unauthorized.needs_rebuild().await.is_err());
}

#[tokio::test]
async fn large_batch_is_split_into_several_requests() {
    let Some(server) = Server::with_indexes().await else { return };
    let long: String = (0..40_000).map(|n| format!("{n} ")).collect();
    let changes = (1..=20).map(|number| put(number, &long)).collect();
    server.apply(IndexName::Web, changes).await.expect("changes");
    assert_eq!(server.document_count(IndexName::Web).await.expect("a count"), 20);
    let response = server.first_stage(&request("39999")).await.expect("hits");
    assert_eq!(response.total, 20);
    assert_eq!(response.statistics.document_frequency.get("39999"), Some(&20));
    let phrase = FirstStageRequest { exact_phrase: true, ..request("39998 39999") };
    assert_eq!(server.first_stage(&phrase).await.expect("hits").total, 20);
}

#[tokio::test]
async fn many_matches_are_counted() {
    let Some(server) = Server::with_indexes().await else { return };
    let changes = (1..=700).map(|number| put(number, if number % 2 == 0 { "copper" } else { "copper pipe" })).collect();
    server.apply(IndexName::Web, changes).await.expect("changes");
    for (text, expected) in [("copper", 700), ("pipe", 350), ("copper pipe", 700), ("brass", 0)] {
        let response = server.first_stage(&request(text)).await.expect("hits");
        assert_eq!(response.total, expected, "{text}");
        assert_eq!(response.hits.len(), (expected as usize).min(10));
    }
}

#[tokio::test]
async fn document_with_more_vectors_than_the_server_accepts_is_found() {
    let Some(server) = Server::with_indexes().await else { return };
    let vector = |at: usize| {
        let components: Vec<f32> = (0..1024).map(|n| if n == at % 1024 { 1.0 } else { 0.01 }).collect();
        QuantizedVector::quantize(&components).expect("a vector")
    };
    let space = VectorSpace(7);
    let vectors = Some(DocumentVectors { space, passages: (0..1_100).map(vector).collect() });
    let document = IndexDocument { vectors, ..IndexDocument::new(DocId(Uuid::from_u128(1)), Collection::Web) };
    server.apply(IndexName::Web, vec![Change::Put(Box::new(document))]).await.expect("changes");
    let request = SemanticRequest {
        collection: Collection::Web,
        space,
        vector: vector(0),
        filters: engine::Filters::default(),
        limit: 1,
    };
    let hits = server.semantic(&request).await.expect("hits");
    assert!(hits.len() == 1 && hits[0].cosine > 0.98, "{hits:?}");
}
