//! Changes of points, in requests of limited size.

use engine::{EngineError, EngineErrorKind};
use model::DocId;
use qdrant_client::Qdrant;
use qdrant_client::qdrant::points_selector::PointsSelectorOneOf;
use qdrant_client::qdrant::{
    DeletePoints, Filter, PointStruct, PointsIdsList, PointsSelector, UpsertPoints, WriteOrdering, WriteOrderingType,
};

use crate::document::id;
use crate::nodes::{Call, Nodes};
use crate::response;

/// Approximate size of a request with points in bytes.
const REQUEST_BYTES: usize = 8 << 20;
/// Maximum number of points in a request, which a node applies at once.
const REQUEST_POINTS: usize = 512;

/// Returns the order of changes: that of one node, which all others forward the changes of a shard to.
///
/// By default each node orders the changes that it receives. A change that timed out at one node could then replace, on some replicas, newer
/// content that came through another node.
fn ordering() -> WriteOrdering {
    WriteOrdering { r#type: WriteOrderingType::Medium.into() }
}

/// Converts documents to points on a thread for blocking work.
pub async fn convert(
    work: impl FnOnce() -> Vec<PointStruct> + Send + 'static,
) -> Result<Vec<PointStruct>, EngineError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        EngineError::new(EngineErrorKind::Panicked, "analysis of documents panicked").with_source(error)
    })
}

/// Adds or replaces points, and waits until searches see them.
pub async fn put(nodes: &Nodes, collection: &str, points: Vec<PointStruct>) -> Result<(), EngineError> {
    let action = "storing documents";
    for points in requests(points) {
        let request = &upsertion(collection, points);
        let upsert = |client: Qdrant| async move { client.upsert_points(request.clone()).await };
        response::completed(action, nodes.call(action, Call::Change, upsert).await?.result)?;
    }
    Ok(())
}

/// Returns a request that adds or replaces points, and is answered once searches see them.
pub fn upsertion(collection: &str, points: Vec<PointStruct>) -> UpsertPoints {
    UpsertPoints {
        collection_name: collection.to_owned(),
        wait: Some(true),
        points,
        ordering: Some(ordering()),
        ..UpsertPoints::default()
    }
}

/// Removes documents. Missing ones are no error.
pub async fn remove(nodes: &Nodes, collection: &str, doc_ids: &[DocId]) -> Result<(), EngineError> {
    if doc_ids.is_empty() {
        return Ok(());
    }
    let ids = doc_ids.iter().map(|doc_id| id(*doc_id)).collect();
    delete(nodes, collection, PointsSelectorOneOf::Points(PointsIdsList { ids })).await
}

/// Removes all documents.
pub async fn clear(nodes: &Nodes, collection: &str) -> Result<(), EngineError> {
    delete(nodes, collection, PointsSelectorOneOf::Filter(Filter::default())).await
}

async fn delete(nodes: &Nodes, collection: &str, points: PointsSelectorOneOf) -> Result<(), EngineError> {
    let action = "removing documents";
    let request = &DeletePoints {
        collection_name: collection.to_owned(),
        wait: Some(true),
        points: Some(PointsSelector { points_selector_one_of: Some(points) }),
        ordering: Some(ordering()),
        ..DeletePoints::default()
    };
    let delete = |client: Qdrant| async move { client.delete_points(request.clone()).await };
    response::completed(action, nodes.call(action, Call::Change, delete).await?.result)
}

/// Splits points into requests.
fn requests(points: Vec<PointStruct>) -> Vec<Vec<PointStruct>> {
    let mut requests: Vec<Vec<PointStruct>> = Vec::new();
    let mut bytes = usize::MAX;
    for point in points {
        if bytes >= REQUEST_BYTES || requests.last().is_none_or(|request| request.len() >= REQUEST_POINTS) {
            requests.push(Vec::new());
            bytes = 0;
        }
        bytes = bytes.saturating_add(prost::Message::encoded_len(&point));
        if let Some(request) = requests.last_mut() {
            request.push(point);
        }
    }
    requests
}
