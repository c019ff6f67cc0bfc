//! Indexes that are not there, are made, and are lost.

use engine::{EngineErrorKind, FirstStageRequest, SearchEngine};
use model::IndexName;

use crate::support::{Server, put, request};

#[tokio::test]
async fn indexes_that_are_not_there_need_a_rebuild_and_take_nothing() {
    let Some(server) = Server::find() else { return };
    assert_eq!(server.needs_rebuild().await.expect("an answer"), IndexName::ALL);
    let early = server.apply(IndexName::Web, vec![put(1, "copper")]).await.expect_err("there is no index");
    assert_eq!(early.kind, EngineErrorKind::Corrupt);
    // The server would have made one of its own settings.
    assert_eq!(server.needs_rebuild().await.expect("an answer"), IndexName::ALL);
    assert!(server.first_stage(&request("copper")).await.is_err());
    assert!(server.ping().await.is_err());

    server.mark_rebuilt(IndexName::ALL).await.expect("the indexes are made");
    assert!(server.needs_rebuild().await.expect("an answer").is_empty());
    server.ping().await.expect("a sign of life");
    server.apply(IndexName::Web, vec![put(1, "copper")]).await.expect("changes");
    // Another process that comes to the same conclusion at the same time does no harm.
    server.mark_rebuilt(IndexName::ALL).await.expect("the indexes are there");
    assert_eq!(server.first_stage(&request("copper")).await.expect("hits").total, 1);
}

#[tokio::test]
async fn lost_indexes_are_noticed() {
    let Some(server) = Server::with_indexes().await else { return };
    server.apply(IndexName::Web, vec![put(1, "copper")]).await.expect("changes");
    server.delete_indexes().await;
    let lost = async {
        while server.needs_rebuild().await.expect("an answer").len() < 2 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), lost).await.expect("the indexes go");
    let refused = server.apply(IndexName::Web, vec![put(2, "brass")]).await.expect_err("there is no index");
    assert_eq!(refused.kind, EngineErrorKind::Corrupt);
}

#[tokio::test]
async fn a_wrong_key_is_an_error_and_no_reason_to_give_documents_up() {
    let Some(server) = Server::with_indexes().await else { return };
    if server.options.api_key.is_none() {
        return;
    }
    let options = engine_meilisearch::MeilisearchOptions { api_key: Some("wrong".into()), ..server.options.clone() };
    let stranger = engine_meilisearch::MeilisearchEngine::new(options).expect("a client");
    let refused = stranger.apply(IndexName::Web, vec![put(1, "copper")]).await.expect_err("the key is wrong");
    assert_eq!(refused.kind, EngineErrorKind::Unavailable);
    assert!(stranger.needs_rebuild().await.is_err());
}

#[tokio::test]
async fn more_documents_than_one_body_holds_arrive() {
    let Some(server) = Server::with_indexes().await else { return };
    // Longer than the server reads of one attribute.
    let long: String = (0..40_000).map(|n| format!("{n} ")).collect();
    let changes = (1..=20).map(|number| put(number, &long)).collect();
    server.apply(IndexName::Web, changes).await.expect("changes");
    assert_eq!(server.document_count(IndexName::Web).await.expect("a count"), 20);
    let answer = server.first_stage(&request("39999")).await.expect("hits");
    assert_eq!(answer.total, 20);
    assert_eq!(answer.statistics.document_frequency.get("39999"), Some(&20));
    let phrase = FirstStageRequest { exact_phrase: true, ..request("39998 39999") };
    assert_eq!(server.first_stage(&phrase).await.expect("hits").total, 20);
}
