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

/// Counts or estimates the documents that meet all conditions. Returns 0 only if there are none: an estimate of none is counted.
pub async fn count_some(
    nodes: &Nodes,
    collection: &str,
    conditions: Vec<Condition>,
    exact: bool,
) -> Result<u64, EngineError> {
    let documents = count_about(nodes, collection, conditions.clone(), exact).await?;
    if is_settled(documents, exact) {
        return Ok(documents);
    }
    count(nodes, collection, conditions).await
}

/// Returns false for an estimate of none, which may be a few.
fn is_settled(documents: u64, exact: bool) -> bool {
    exact || documents > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_estimate_of_none_is_counted_again() {
        assert!(is_settled(0, true) && is_settled(3, true) && is_settled(3, false));
        assert!(!is_settled(0, false));
    }
}
