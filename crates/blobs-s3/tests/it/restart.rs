//! Acknowledged objects survive a stop and a restart of the server.

use blobs::BlobStore;
use s3_server::{S3Server, S3ServerError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::server::{Fixture, Server, connections, server_options};

#[tokio::test]
async fn objects_and_used_urls_survive_a_restart() {
    let fixture = Fixture::start().await;
    let before = fixture.store.put("kept", "content".into()).await.unwrap();
    fixture.store.put("removed", "x".into()).await.unwrap();
    fixture.store.delete("removed").await.unwrap();
    let url = fixture.presign("uploaded", 5, "n");
    assert_eq!(fixture.put(&url, "first").await, 200);
    let old_endpoint = fixture.server.endpoint.clone();
    let Fixture { server, store, http, folder } = fixture;
    server.stop().await;

    // The same address, because the signature covers it.
    let server = S3Server::open(server_options(folder.path())).unwrap();
    let listener = tokio::net::TcpListener::bind(old_endpoint.strip_prefix("http://").unwrap()).await.unwrap();
    let serving = tokio::spawn(server.serve(listener, connections(1024), std::future::pending()));
    let listed = store.list("", None).await.unwrap().objects;
    assert_eq!(listed.iter().map(|meta| meta.key.as_str()).collect::<Vec<_>>(), ["kept", "uploaded"]);
    assert_eq!((listed[0].size, &listed[0].etag), (before.size, &before.etag));
    let (_, body) = store.get("kept", 100).await.unwrap().unwrap();
    assert_eq!(body, "content");
    let again = http.put(&url).body("again").send().await.unwrap();
    assert_eq!(again.status(), 403, "a used URL stays used up");
    serving.abort();
}

#[tokio::test]
async fn shutdown_lets_a_running_upload_finish() {
    let fixture = Fixture::start().await;
    let url = fixture.presign("k", 2, "n");
    let address = fixture.server.endpoint.strip_prefix("http://").unwrap().to_owned();
    let target = url.strip_prefix(&fixture.server.endpoint).unwrap();
    let mut connection = TcpStream::connect(&address).await.unwrap();
    // `100 Continue` shows that the upload has started.
    let head = format!("PUT {target} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    connection.write_all(head.as_bytes()).await.unwrap();
    let mut interim = [0; 25];
    connection.read_exact(&mut interim).await.unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");

    let stopping = tokio::spawn(fixture.server.stop());
    // The server stops accepting connections.
    while TcpStream::connect(&address).await.is_ok() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    connection.write_all(b"ab").await.unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    stopping.await.unwrap();
}

#[tokio::test]
async fn a_folder_is_used_by_one_server_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path()).await;
    let second = S3Server::open(server_options(folder.path()));
    assert!(matches!(second.err(), Some(S3ServerError::InUse(_))));
    server.stop().await;
    S3Server::open(server_options(folder.path())).unwrap();
}
