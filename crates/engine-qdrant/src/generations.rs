//! Generations of both indexes, in a small collection of their own: a document among the others would distort their
//! statistics.

use engine::{EngineError, EngineErrorKind};
use model::{Generation, IndexName};
use qdrant_client::Qdrant;
use qdrant_client::qdrant::value::Kind;
use qdrant_client::qdrant::{GetPointsBuilder, PointId, PointStruct, UpsertPoints, Value};
use uuid::Uuid;

use crate::nodes::{Call, Nodes};
use crate::{QdrantOptions, collections, response};

const GENERATION: &str = "generation";

/// Returns the id of the point of an index.
fn id(name: IndexName) -> PointId {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_str().as_bytes()).to_string().into()
}

/// Returns the stored generation of an index.
pub async fn read(nodes: &Nodes, collection: &str, name: IndexName) -> Result<Option<Generation>, EngineError> {
    let request = &GetPointsBuilder::new(collection, vec![id(name)]).with_payload(true).build();
    let get = |client: Qdrant| async move { client.get_points(request.clone()).await };
    let points = match nodes.call("reading the generation of the index", Call::Read, get).await {
        Ok(response) => response.result,
        Err(error) if error.kind == EngineErrorKind::Corrupt => return Ok(None),
        Err(error) => return Err(error),
    };
    let value = points.first().and_then(|point| point.payload.get(GENERATION)).and_then(|value| value.kind.as_ref());
    match value {
        Some(Kind::StringValue(text)) => Ok(Uuid::parse_str(text).ok().map(Generation)),
        _ => Ok(None),
    }
}

/// Stores the generation of an index. The first call creates the collection.
pub async fn write(
    nodes: &Nodes,
    options: &QdrantOptions,
    collection: &str,
    name: IndexName,
    generation: Generation,
) -> Result<(), EngineError> {
    let action = "storing the generation of the index";
    let point = PointStruct {
        id: Some(id(name)),
        payload: [(GENERATION.to_owned(), Value::from(generation.0.to_string()))].into(),
        vectors: Some(qdrant_client::qdrant::NamedVectors::default().into()),
    };
    let request = &UpsertPoints {
        collection_name: collection.to_owned(),
        wait: Some(true),
        points: vec![point],
        ..UpsertPoints::default()
    };
    let upsert = async || {
        nodes
            .call(action, Call::Change, |client: Qdrant| async move { client.upsert_points(request.clone()).await })
            .await
    };
    let stored = match upsert().await {
        Err(error) if error.kind == EngineErrorKind::Corrupt => {
            collections::create_of_payloads(nodes, options, collection).await?;
            upsert().await?
        }
        stored => stored?,
    };
    response::completed(action, stored.result)
}
