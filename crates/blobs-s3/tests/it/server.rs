//! Embedded store on a free loopback port.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use blobs::{BlobStore, PresignPut};
use blobs_s3::{S3Options, S3Store, S3Timeouts};
use bytes::Bytes;
use connections::{Connections, Limits};
use futures_util::stream;
use s3_server::{Durability, Paces, S3Server, S3ServerOptions};
use tempfile::TempDir;
use time::OffsetDateTime;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub const KEY: &str = "test-key";
pub const SECRET: &str = "test-secret";
pub const BUCKET: &str = "workspace";
pub const MAX_OBJECT_BYTES: u64 = 64 * 1024 * 1024;

pub struct Server {
    pub endpoint: String,
    stop: oneshot::Sender<()>,
    done: JoinHandle<()>,
}

pub fn server_options(root: &Path) -> S3ServerOptions {
    S3ServerOptions {
        root: root.to_owned(),
        bucket: BUCKET.to_owned(),
        access_key_id: KEY.to_owned(),
        secret_access_key: SECRET.to_owned(),
        max_object_bytes: MAX_OBJECT_BYTES,
        durability: Durability::Process,
        paces: Paces::default(),
        is_full: Arc::new(|| false),
    }
}

pub fn connections(limit: usize) -> Connections {
    Connections::new("storage", Limits { connections: limit, per_address: 0, trusted: vec![] })
}

impl Server {
    pub async fn start(root: &Path) -> Self {
        Self::start_with(server_options(root)).await
    }

    pub async fn start_with(options: S3ServerOptions) -> Self {
        Self::start_limited(options, 1024).await
    }

    /// Starts a server with a maximum of connections.
    pub async fn start_limited(options: S3ServerOptions, limit: usize) -> Self {
        let server = S3Server::open(options).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel();
        let done = tokio::spawn(server.serve(listener, connections(limit), async {
            let _ = stopped.await;
        }));
        Self { endpoint, stop, done }
    }

    pub async fn stop(self) {
        self.stop.send(()).unwrap();
        self.done.await.unwrap();
    }

    pub fn store(&self) -> S3Store {
        S3Store::new(options(&self.endpoint)).unwrap()
    }
}

pub fn options(endpoint: &str) -> S3Options {
    S3Options {
        endpoint: Some(endpoint.to_owned()),
        public_endpoint: None,
        region: "us-east-1".to_owned(),
        bucket: BUCKET.to_owned(),
        access_key_id: KEY.to_owned(),
        secret_access_key: SECRET.to_owned(),
        session_token: None,
        path_style: true,
        max_requests: None,
        timeouts: S3Timeouts::default(),
    }
}

/// Server with its folder and a client.
pub struct Fixture {
    pub server: Server,
    pub store: S3Store,
    pub http: reqwest::Client,
    pub folder: TempDir,
}

impl Fixture {
    pub async fn start() -> Self {
        Self::start_with(|options| options).await
    }

    pub async fn start_with(change: impl FnOnce(S3ServerOptions) -> S3ServerOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start_with(change(server_options(folder.path()))).await;
        let store = server.store();
        Self { server, store, http: http_client(), folder }
    }

    /// Presigns a URL that is valid from now.
    pub fn presign(&self, key: &str, size: u64, nonce: &str) -> String {
        self.presign_at(key, size, nonce, OffsetDateTime::now_utc())
    }

    pub fn presign_at(&self, key: &str, size: u64, nonce: &str, now: OffsetDateTime) -> String {
        let request = PresignPut { key, size, expires_in: Duration::from_secs(900), nonce };
        self.store.presign_put(&request, now).unwrap()
    }

    pub async fn put(&self, url: &str, body: impl Into<reqwest::Body>) -> u16 {
        self.http.put(url).body(body).send().await.unwrap().status().as_u16()
    }

    /// Uploads the body with its length, or in chunks without one. Returns status and body of the response.
    pub async fn put_with_length(&self, url: &str, body: Vec<u8>, chunked: bool) -> (u16, String) {
        let request = match chunked {
            true => {
                let chunks = stream::iter([Ok::<_, std::io::Error>(Bytes::from(body))]);
                self.http.put(url).body(reqwest::Body::wrap_stream(chunks))
            }
            false => self.http.put(url).header("content-length", body.len()).body(body),
        };
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }

    pub async fn stored(&self, key: &str) -> Option<Vec<u8>> {
        self.store.get(key, u64::MAX).await.unwrap().map(|(_, body)| body.to_vec())
    }
}

pub fn http_client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap()
}
