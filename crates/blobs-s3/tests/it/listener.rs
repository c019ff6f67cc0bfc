//! Limits of the server's connections.

use std::time::Duration;

use blobs::{BlobStore, PresignPut};
use blobs_s3::{S3Options, S3Store};
use connections::Pace;
use futures_util::future::try_join_all;
use s3_server::{Paces, S3ServerOptions};
use time::OffsetDateTime;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::server::{Server, options, server_options};

fn address(server: &Server) -> &str {
    server.endpoint.strip_prefix("http://").unwrap()
}

/// Opens a connection and sends the head of an upload, but no body.
async fn start_upload(server: &Server, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address(server)).await.unwrap();
    let head = format!("PUT {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: 1000000\r\n\r\n", address(server));
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

fn presigned_path(server: &Server) -> String {
    let request = PresignPut { key: "slow", size: 1_000_000, expires_in: Duration::from_secs(900), nonce: "slow" };
    let url = server.store().presign_put(&request, OffsetDateTime::now_utc()).unwrap();
    url.strip_prefix(&server.endpoint).unwrap().to_owned()
}

#[tokio::test]
async fn idle_connections_and_rejected_uploads_make_room() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_limited(server_options(folder.path()), 4).await;
    let mut idle = Vec::new();
    for _ in 0..8 {
        idle.push(TcpStream::connect(address(&server)).await.unwrap());
        // Not signed, so it is rejected, and the server waits for the rest of it.
        idle.push(start_upload(&server, "/workspace/k").await);
    }
    let store = server.store();
    store.put("k", vec![1; 100_000].into()).await.unwrap();
    assert_eq!(store.get("k", u64::MAX).await.unwrap().unwrap().1.len(), 100_000);
    drop(idle);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_beyond_those_of_the_client_wait() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_limited(server_options(folder.path()), 8).await;
    let store = S3Store::new(S3Options { max_requests: Some(4), ..options(&server.endpoint) }).unwrap();
    store.put("k", vec![1; 100_000].into()).await.unwrap();
    // Not repeated after an error.
    try_join_all((0..200).map(|_| store.delete_once("missing"))).await.unwrap();
    try_join_all((0..200).map(|_| store.get("k", u64::MAX))).await.unwrap();
    server.stop().await;
}

#[tokio::test]
async fn an_upload_that_stalls_is_closed_and_leaves_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let impatient = Pace { patience: Duration::from_millis(200), bytes_per_second: 1 << 20 };
    let options =
        S3ServerOptions { paces: Paces { sending: impatient, ..Paces::default() }, ..server_options(folder.path()) };
    let server = Server::start_limited(options, 1).await;
    let mut slow = start_upload(&server, &presigned_path(&server)).await;
    let trickle = async {
        // Fails once the server has closed the connection.
        while slow.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), trickle).await.unwrap();
    server.store().put("k", vec![1; 10].into()).await.unwrap();
    assert!(server.store().head("slow").await.unwrap().is_none());
    server.stop().await;
}

#[tokio::test]
async fn a_client_that_does_not_read_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let impatient = Pace { patience: Duration::from_millis(200), bytes_per_second: 1 << 20 };
    let options =
        S3ServerOptions { paces: Paces { reading: impatient, ..Paces::default() }, ..server_options(folder.path()) };
    let server = Server::start_limited(options, 4).await;
    let mut stream = TcpStream::connect(address(&server)).await.unwrap();
    // Pipelined rejections, which nobody reads.
    let requests = "GET /workspace/k HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1000);
    let closed = async {
        while stream.write_all(requests.as_bytes()).await.is_ok() {}
        let _ = stream.read(&mut [0; 1]).await;
    };
    tokio::time::timeout(Duration::from_secs(60), closed).await.unwrap();
    server.stop().await;
}

#[tokio::test]
async fn a_form_is_refused_while_it_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    // Ends the wait for the rest of the form.
    let impatient = Pace { patience: Duration::from_millis(200), bytes_per_second: 1 << 20 };
    let options =
        S3ServerOptions { paces: Paces { sending: impatient, ..Paces::default() }, ..server_options(folder.path()) };
    let server = Server::start_limited(options, 4).await;
    for content_type in ["multipart/form-data", "Multipart/Form-Data", "multipart/form-data+x"] {
        let mut stream = TcpStream::connect(address(&server)).await.unwrap();
        let part = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\nbegin of a file";
        // A first chunk, and never another.
        let request = format!(
            "POST /workspace HTTP/1.1\r\nHost: {}\r\nContent-Type: {content_type}; boundary=b\r\n\
             Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{part}\r\n",
            address(&server),
            part.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        let answered = tokio::time::timeout(Duration::from_secs(20), stream.read_to_string(&mut answer));
        answered.await.unwrap().unwrap();
        assert!(answer.starts_with("HTTP/1.1 501"), "{content_type}: {answer}");
        assert!(answer.contains("NotImplemented") && answer.contains("form"), "{content_type}: {answer}");
    }
    server.stop().await;
}
