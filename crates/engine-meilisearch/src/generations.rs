//! Generations of both indexes, in a small index of their own: a document among the others would distort their statistics.

use std::time::Duration;

use engine::EngineError;
use meilisearch_sdk::client::Client;
use meilisearch_sdk::errors::{Error, ErrorCode};
use meilisearch_sdk::tasks::{Task, TasksSearchQuery};
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

/// Number of tasks whose shortest is taken, since others may have waited for the processor.
const TASKS: u32 = 10;

/// Returns the shortest of the last times in which the server stored a generation; `None` if it never did. Each is a task of one
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
