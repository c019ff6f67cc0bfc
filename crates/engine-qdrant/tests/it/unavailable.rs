//! Unreachable and misbehaving servers. These tests need no real server.

use std::time::{Duration, Instant};

use engine::{EngineErrorKind, SearchEngine};
use engine_qdrant::{QdrantEngine, QdrantOptions};
use model::{Generation, IndexName};
use tokio::net::TcpListener;
use uuid::Uuid;

use crate::support::{Server, options, put, request};

fn engine(url: String) -> QdrantEngine {
    QdrantEngine::new(options(url)).expect("a client")
}

/// Returns the URL of a port at which nothing listens.
async fn unused() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    format!("http://{}", listener.local_addr().expect("an address"))
}

#[tokio::test]
async fn unreachable_server_is_unavailable() {
    let started = Instant::now();
    let engine = engine(unused().await);
    assert_eq!(engine.first_stage(&request("copper")).await.expect_err("no server").kind, EngineErrorKind::Unavailable);
    let applied = engine.apply(IndexName::Web, vec![put(1, "copper")]).await;
    assert_eq!(applied.expect_err("no server").kind, EngineErrorKind::Unavailable);
    assert!(engine.ping().await.is_err());
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn server_of_another_protocol_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let response = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
            let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, response).await;
        }
    });
    let error = engine(url).first_stage(&request("copper")).await.expect_err("no gRPC");
    assert_eq!(error.kind, EngineErrorKind::Unavailable, "{error:?}");
}

#[tokio::test]
async fn another_node_answers_for_one_that_is_down_or_silent() {
    let Some(server) = Server::with_indexes().await else { return };
    server.apply(IndexName::Web, vec![put(1, "copper")]).await.expect("changes");
    server.set_generation(IndexName::Web, Generation(Uuid::from_u128(9))).await.expect("stored");
    // Accepts connections and never responds.
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let silent = (format!("http://{}", silent.local_addr().expect("an address")), silent);
    for dead in [unused().await, silent.0.clone()] {
        let url = format!("{dead}, {}", server.options.url);
        let engine = QdrantEngine::new(QdrantOptions { url, ..server.options.clone() }).expect("a client");
        for _ in 0..4 {
            let started = Instant::now();
            assert_eq!(engine.first_stage(&request("copper")).await.expect("hits").total, 1);
            assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
        }
        // Half of the nodes proves that there are no vectors, since it knows the collection that would say so.
        assert!(engine.needs_rebuild().await.expect("a rebuild state").is_empty(), "{dead}");
    }
}

#[tokio::test]
async fn api_key_is_redacted() {
    let options = QdrantOptions { api_key: Some("s3cret-key".into()), ..options("http://127.0.0.1:1".into()) };
    let engine = QdrantEngine::new(options.clone()).expect("a client");
    let error = engine.ping().await.expect_err("no server");
    assert!(!format!("{error:?} {options:?}").contains("s3cret"), "{error:?} {options:?}");
    for (url, api_key) in
        [("http://127.0.0.1:1", "s3cret\n"), ("http://127.0.0.1:1", "s3cret-é"), ("http://[", "s3cret"), ("", "s3cret")]
    {
        let options = QdrantOptions { url: url.into(), api_key: Some(api_key.into()), ..options.clone() };
        let Err(error) = QdrantEngine::new(options) else { panic!("{url} {api_key:?}") };
        assert_eq!(error.kind, EngineErrorKind::Rejected);
        assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
    }
}
