//! Unreachable and misbehaving servers. These tests need no real server.

use std::time::{Duration, Instant};

use engine::{EngineErrorKind, SearchEngine};
use engine_meilisearch::{MeilisearchEngine, MeilisearchOptions};
use model::IndexName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::support::{put, request};

fn engine(url: String) -> MeilisearchEngine {
    MeilisearchEngine::new(MeilisearchOptions { url, api_key: None, prefix: String::new() }).expect("a client")
}

/// Starts a server that sends this response to every request.
async fn start_server(status: &'static str, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut received = [0; 1 << 16];
                while stream.read(&mut received).await.is_ok_and(|read| read > 0) {
                    let response = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                    if stream.write_all(response.as_bytes()).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    format!("http://{address}")
}

#[tokio::test]
async fn unreachable_server_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let started = Instant::now();
    let engine = engine(url);
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
        let engine = engine(start_server(status, body).await);
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
