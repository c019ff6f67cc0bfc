//! Generations of both indexes, in a small index of their own: a document among the others would distort their statistics.

use engine::EngineError;
use meilisearch_sdk::client::Client;
use meilisearch_sdk::errors::{Error, ErrorCode};
use model::{Generation, IndexName};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::from_client;
use crate::index;
use crate::transport::Transport;

/// Name of the attribute with the document id.
const ID: &str = "id";

#[derive(Deserialize, Serialize)]
struct StoredGeneration {
    /// Name of the index.
    id: String,
    generation: Uuid,
}

/// Returns the stored generation of an index.
pub async fn read(client: &Client<Transport>, uid: &str, name: IndexName) -> Result<Option<Generation>, EngineError> {
    match client.index(uid).get_document::<StoredGeneration>(name.as_str()).await {
        Ok(stored) => Ok(Some(Generation(stored.generation))),
        Err(Error::Meilisearch(response))
            if matches!(response.error_code, ErrorCode::IndexNotFound | ErrorCode::DocumentNotFound) =>
        {
            Ok(None)
        }
        Err(error) => Err(from_client("reading the generation of the index", error)),
    }
}

/// Stores the generation of an index. The first call creates the index of the generations.
pub async fn write(
    client: &Client<Transport>,
    uid: &str,
    name: IndexName,
    generation: Generation,
) -> Result<(), EngineError> {
    let action = "storing the generation of the index";
    let stored = StoredGeneration { id: name.as_str().to_owned(), generation: generation.0 };
    let task = client.index(uid).add_documents(&[stored], Some(ID)).await;
    index::wait(client, action, task.map_err(|error| from_client(action, error))?).await
}
