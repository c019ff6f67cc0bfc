//! Unreachable and misbehaving servers. These tests need no real server.

use std::time::{Duration, Instant};

use engine::{EngineErrorKind, SearchEngine};
use engine_meilisearch::{MeilisearchEngine, MeilisearchOptions};
use model::IndexName;
use tokio::net::TcpListener;

use crate::support::{engine_at, put, request, scripted};

#[tokio::test]
async fn unreachable_server_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let started = Instant::now();
    let engine = engine_at(url);
    assert_eq!(engine.first_stage(&request("copper")).await.expect_err("no server").kind, EngineErrorKind::Unavailable);
    let applied = engine.apply(IndexName::Web, vec![put(1, "copper")]).await;
    assert_eq!(applied.expect_err("no server").kind, EngineErrorKind::Unavailable);
    assert!(engine.ping().await.is_err());
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn invalid_responses_are_unavailable() {
    for (status, body) in [
        ("200 OK", "not JSON"),
        ("200 OK", "{\"results\": []}"),
        ("200 OK", "{\"results\": [{\"hits\": [{\"id\": \"x\"}]}]}"),
        ("500 Internal Server Error", ""),
        ("302 Found", "elsewhere"),
        ("200 OK", ""),
    ] {
        let engine = scripted(move |_| (status, body.to_owned())).await;
        let error = engine.first_stage(&request("copper")).await.expect_err(body);
        assert_eq!(error.kind, EngineErrorKind::Unavailable, "{status} {body}");
        assert!(engine.apply(IndexName::Web, vec![put(1, "copper")]).await.is_err(), "{status} {body}");
    }
}

#[tokio::test]
async fn api_key_is_redacted() {
    let options = MeilisearchOptions {
        url: "http://127.0.0.1:1".into(),
        api_key: Some("s3cret-key".into()),
        prefix: String::new(),
    };
    let engine = MeilisearchEngine::new(options.clone()).expect("a client");
    let error = engine.ping().await.expect_err("no server");
    assert!(!format!("{error:?} {options:?}").contains("s3cret"), "{error:?} {options:?}");
}
