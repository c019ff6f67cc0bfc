//! State of both indexes, in a small index of its own: a document among the others would distort their statistics.
//!
//! Each index has two documents: its generation, and the name of its index of vectors. An older version of this crate reads
//! and writes only the first one.

use std::time::Duration;

use engine::EngineError;
use meilisearch_sdk::client::Client;
use meilisearch_sdk::errors::{Error, ErrorCode};
use meilisearch_sdk::tasks::{Task, TasksSearchQuery};
use model::{Generation, IndexName};
use serde::de::DeserializeOwned;
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

#[derive(Deserialize, Serialize)]
struct StoredVectors {
    id: String,
    /// Name of the index of vectors on the server.
    uid: Option<String>,
}

/// Returns the stored generation of an index.
pub async fn read(client: &Client<Transport>, uid: &str, name: IndexName) -> Result<Option<Generation>, EngineError> {
    let stored: Option<StoredGeneration> =
        find(client, uid, name.as_str(), "reading the generation of the index").await?;
    Ok(stored.map(|stored| Generation(stored.generation)))
}

/// Stores the generation of an index. The first call creates the index of the generations.
pub async fn write(
    client: &Client<Transport>,
    uid: &str,
    name: IndexName,
    generation: Generation,
) -> Result<(), EngineError> {
    let stored = StoredGeneration { id: name.as_str().to_owned(), generation: generation.0 };
    put(client, uid, stored, "storing the generation of the index").await
}

/// Returns the name of the index of vectors that [`write_vectors`] stored last.
pub async fn read_vectors(
    client: &Client<Transport>,
    uid: &str,
    name: IndexName,
) -> Result<Option<String>, EngineError> {
    let stored: Option<StoredVectors> =
        find(client, uid, &vectors_id(name), "reading the name of the index of vectors").await?;
    Ok(stored.and_then(|stored| stored.uid))
}

/// Stores the name of the index of vectors that belongs to an index; `None` if none has to exist.
pub async fn write_vectors(
    client: &Client<Transport>,
    uid: &str,
    name: IndexName,
    vectors: Option<String>,
) -> Result<(), EngineError> {
    let stored = StoredVectors { id: vectors_id(name), uid: vectors };
    put(client, uid, stored, "storing the name of the index of vectors").await
}

/// Returns the id of the document with the name of the index of vectors.
fn vectors_id(name: IndexName) -> String {
    format!("{}-vectors", name.as_str())
}

/// Returns a document; `None` if it or the whole index is missing.
async fn find<T: DeserializeOwned + Send + Sync + 'static>(
    client: &Client<Transport>,
    uid: &str,
    id: &str,
    action: &str,
) -> Result<Option<T>, EngineError> {
    match client.index(uid).get_document::<T>(id).await {
        Ok(stored) => Ok(Some(stored)),
        Err(Error::Meilisearch(response))
            if matches!(response.error_code, ErrorCode::IndexNotFound | ErrorCode::DocumentNotFound) =>
        {
            Ok(None)
        }
        Err(error) => Err(from_client(action, error)),
    }
}

async fn put<T: Serialize + Send + Sync>(
    client: &Client<Transport>,
    uid: &str,
    document: T,
    action: &str,
) -> Result<(), EngineError> {
    let task = client.index(uid).add_documents(&[document], Some(ID)).await;
    index::wait(client, action, task.map_err(|error| from_client(action, error))?).await
}

/// Number of tasks whose shortest is taken, since others may have waited for the processor.
const TASKS: u32 = 10;

/// Returns the shortest of the last times in which the server stored a document here; `None` if it never did. Each is a task of one
/// document, so this is what every task costs.
pub async fn shortest_write(client: &Client<Transport>, uid: &str) -> Result<Option<Duration>, EngineError> {
    let mut query = TasksSearchQuery::new(client);
    query.with_index_uids([uid]).with_statuses(["succeeded"]).with_types(["documentAdditionOrUpdate"]);
    query.with_limit(TASKS);
    let tasks = query.execute().await.map_err(|error| from_client("listing the tasks of the server", error))?;
    let durations = tasks.results.iter().filter_map(|task| match task {
        Task::Succeeded { content } => Some(content.duration),
        Task::Enqueued { .. } | Task::Processing { .. } | Task::Failed { .. } => None,
    });
    Ok(durations.min())
}
