//! Upload of documents as NDJSON, in bodies of limited size. One is sent while the next is prepared.

use engine::{EngineError, EngineErrorKind};
use futures_util::io::Cursor;
use meilisearch_sdk::client::Client;
use meilisearch_sdk::indexes::Index;
use model::DocId;
use serde::Serialize;
use tokio::sync::mpsc;

use crate::document::attribute;
use crate::error::from_client;
use crate::index;
use crate::transport::Transport;

/// Approximate size of a request body with documents. The default limit of servers is 100 MB. The server begins to index the first
/// body at once, without those that follow, and a small batch costs it more per document.
const BODY_BYTES: usize = 72 << 20;

/// Bodies that wait while one is sent.
const AHEAD: usize = 1;

/// Sink of documents.
pub struct Bodies {
    body: Vec<u8>,
    sender: mpsc::Sender<Vec<u8>>,
}

impl Bodies {
    /// Adds a document. Blocks while the server does not accept more.
    pub fn push(&mut self, doc_id: DocId, document: &impl Serialize) -> Result<(), EngineError> {
        serde_json::to_writer(&mut self.body, document).map_err(|error| {
            let message = format!("cannot serialize document `{doc_id}`");
            EngineError::new(EngineErrorKind::Rejected, message).with_source(error)
        })?;
        self.body.push(b'\n');
        if self.body.len() >= BODY_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), EngineError> {
        if self.body.is_empty() {
            return Ok(());
        }
        // Fails after an error of the server, which the caller has got.
        let sent = self.sender.blocking_send(std::mem::take(&mut self.body));
        sent.map_err(|_| EngineError::new(EngineErrorKind::Unavailable, "the upload of documents ended early"))
    }
}

/// Sends the documents that `prepare` adds, on a thread for blocking work, and waits until they are indexed.
pub async fn send(
    client: &Client<Transport>,
    index: &Index<Transport>,
    prepare: impl FnOnce(&mut Bodies) -> Result<(), EngineError> + Send + 'static,
) -> Result<(), EngineError> {
    let (sender, mut bodies) = mpsc::channel(AHEAD);
    let preparing = tokio::task::spawn_blocking(move || {
        let mut bodies = Bodies { body: Vec::new(), sender };
        prepare(&mut bodies)?;
        bodies.flush()
    });
    let mut tasks = Vec::new();
    while let Some(body) = bodies.recv().await {
        let sent = index.add_documents_ndjson(Cursor::new(body), Some(attribute::ID)).await;
        tasks.push(sent.map_err(|error| from_client("sending documents", error))?);
    }
    preparing.await.map_err(|error| {
        EngineError::new(EngineErrorKind::Panicked, "analysis of documents panicked").with_source(error)
    })??;
    for task in tasks {
        index::wait(client, "indexing documents", task).await?;
    }
    Ok(())
}
