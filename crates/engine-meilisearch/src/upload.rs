//! Upload of documents as NDJSON, in bodies of limited size.

use engine::{EngineError, EngineErrorKind};
use futures_util::io::Cursor;
use meilisearch_sdk::client::Client;
use meilisearch_sdk::indexes::Index;
use model::DocId;
use serde::Serialize;

use crate::document::attribute;
use crate::error::from_client;
use crate::index;
use crate::transport::Transport;

/// Approximate size of a request body with documents. The default limit of servers is 100 MB.
const BODY_BYTES: usize = 16 << 20;

/// Serializes documents on a thread for blocking work.
pub async fn serialize(
    work: impl FnOnce() -> Result<Vec<Vec<u8>>, EngineError> + Send + 'static,
) -> Result<Vec<Vec<u8>>, EngineError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        EngineError::new(EngineErrorKind::Panicked, "analysis of documents panicked").with_source(error)
    })?
}

/// Returns the bodies for documents.
pub fn bodies<T: Serialize>(documents: impl Iterator<Item = (DocId, T)>) -> Result<Vec<Vec<u8>>, EngineError> {
    let mut bodies = vec![Vec::new()];
    for (doc_id, document) in documents {
        if bodies.last().is_some_and(|body| body.len() >= BODY_BYTES) {
            bodies.push(Vec::new());
        }
        if let Some(body) = bodies.last_mut() {
            serde_json::to_writer(&mut *body, &document).map_err(|error| {
                let message = format!("cannot serialize document `{doc_id}`");
                EngineError::new(EngineErrorKind::Rejected, message).with_source(error)
            })?;
            body.push(b'\n');
        }
    }
    Ok(bodies)
}

/// Sends the bodies, and waits until their documents are indexed.
pub async fn send(
    client: &Client<Transport>,
    index: &Index<Transport>,
    bodies: Vec<Vec<u8>>,
) -> Result<(), EngineError> {
    let mut tasks = Vec::new();
    for body in bodies {
        let sent = index.add_documents_ndjson(Cursor::new(body), Some(attribute::ID)).await;
        tasks.push(sent.map_err(|error| from_client("sending documents", error))?);
    }
    for task in tasks {
        index::wait(client, "indexing documents", task).await?;
    }
    Ok(())
}
