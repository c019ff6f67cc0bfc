//! Counts of documents.

use engine::EngineError;
use qdrant_client::Qdrant;
use qdrant_client::qdrant::{Condition, CountPoints, Filter};

use crate::nodes::{Call, Nodes};

/// Counts the documents that meet all conditions.
pub async fn count(nodes: &Nodes, collection: &str, conditions: Vec<Condition>) -> Result<u64, EngineError> {
    count_about(nodes, collection, conditions, true).await
}

/// Counts the documents that meet all conditions, or lets the server estimate their number.
pub async fn count_about(
    nodes: &Nodes,
    collection: &str,
    conditions: Vec<Condition>,
    exact: bool,
) -> Result<u64, EngineError> {
    let request = &CountPoints {
        collection_name: collection.to_owned(),
        filter: Some(Filter::must(conditions)),
        exact: Some(exact),
        ..CountPoints::default()
    };
    let count = |client: Qdrant| async move { client.count(request.clone()).await };
    let response = nodes.call("counting documents", Call::Read, count).await?;
    Ok(response.result.map_or(0, |result| result.count))
}
