//! Real server, used by each test under its own prefix, and scripted ones.

use std::ops::Deref;

use engine::{Change, Filters, FirstStageRequest, IndexDocument, SearchEngine};
use engine_meilisearch::{MeilisearchEngine, MeilisearchOptions};
use model::{Collection, DocId, IndexName};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use uuid::Uuid;

/// Engine whose indexes are deleted on drop.
pub struct Server {
    engine: MeilisearchEngine,
    pub options: MeilisearchOptions,
}

impl Server {
    /// Returns an engine without indexes; `None` if no server is configured.
    pub fn from_environment() -> Option<Self> {
        let url = std::env::var("ACCEPT_INDEX_URL").ok().filter(|url| !url.is_empty())?;
        let api_key = std::env::var("ACCEPT_INDEX_KEY").ok().filter(|key| !key.is_empty());
        let options = MeilisearchOptions { url, api_key, prefix: format!("test-{}-", Uuid::new_v4().simple()) };
        let engine = MeilisearchEngine::new(options.clone()).expect("a client");
        Some(Self { engine, options })
    }

    pub async fn with_indexes() -> Option<Self> {
        let server = Self::from_environment()?;
        server.mark_rebuilt(IndexName::ALL).await.expect("the indexes are created");
        Some(server)
    }

    /// Deletes all indexes under this prefix, as an operator might by mistake.
    pub async fn delete_indexes(&self) {
        self.delete_indexes_with("").await;
    }

    fn authorized(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        match &self.options.api_key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    /// Adds a document to an index, given by its name without the prefix. The server creates a missing index.
    pub async fn add_plain_document(&self, name: &str) {
        let Self { options, .. } = self;
        let url = format!("{}/indexes/{}{name}/documents?primaryKey=id", options.url, options.prefix);
        let documents = serde_json::json!([{ "id": Uuid::from_u128(99) }]);
        let request = self.authorized(reqwest::Client::new().post(url).json(&documents));
        let status = request.send().await.expect("a response").status();
        assert!(status.is_success(), "{status}");
    }

    /// Deletes the indexes under this prefix whose names contain a text.
    pub async fn delete_indexes_with(&self, text: &str) {
        let client = reqwest::Client::new();
        let listed = self.authorized(client.get(format!("{}/indexes?limit=10000", self.options.url))).send().await;
        let Ok(listed) = listed else { return };
        let listed: serde_json::Value =
            serde_json::from_str(&listed.text().await.unwrap_or_default()).unwrap_or_default();
        for uid in listed["results"].as_array().into_iter().flatten().filter_map(|index| index["uid"].as_str()) {
            if uid.starts_with(&self.options.prefix) && uid.contains(text) {
                // A failure is ignored: `drop` cannot report errors.
                let _ = self.authorized(client.delete(format!("{}/indexes/{uid}", self.options.url))).send().await;
            }
        }
    }
}

impl Deref for Server {
    type Target = MeilisearchEngine;

    fn deref(&self) -> &MeilisearchEngine {
        &self.engine
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
                runtime.block_on(self.delete_indexes());
            });
        });
    }
}

pub fn put(number: u128, body: &str) -> Change {
    Change::Put(Box::new(IndexDocument {
        body: body.to_owned(),
        ..IndexDocument::new(DocId(Uuid::from_u128(number)), Collection::Web)
    }))
}

pub fn request(text: &str) -> FirstStageRequest {
    FirstStageRequest {
        collection: Collection::Web,
        texts: vec![text.to_owned()],
        exact_phrase: false,
        rerank_text: None,
        filters: Filters::default(),
        limit: 10,
    }
}

/// Starts a server that answers each request with the status and the body that `respond` makes of its body. Returns an engine
/// without a key.
pub async fn scripted(respond: impl Fn(&[u8]) -> (&'static str, String) + Clone + Send + 'static) -> MeilisearchEngine {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, respond.clone()));
        }
    });
    engine_at(url)
}

pub fn engine_at(url: String) -> MeilisearchEngine {
    MeilisearchEngine::new(MeilisearchOptions { url, api_key: None, prefix: String::new() }).expect("a client")
}

async fn serve(stream: TcpStream, respond: impl Fn(&[u8]) -> (&'static str, String)) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    while let Some(body) = read_request(&mut stream).await? {
        let (status, body) = respond(&body);
        let response = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        stream.write_all(response.as_bytes()).await?;
    }
    Ok(())
}

/// Reads the body of the next request; `None` at the end of the connection.
async fn read_request(stream: &mut BufReader<TcpStream>) -> std::io::Result<Option<Vec<u8>>> {
    let (mut length, mut line) = (0, String::new());
    while line != "\r\n" {
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(Some(body))
}
