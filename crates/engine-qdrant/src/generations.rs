//! State of both indexes, in a small collection of its own: a point among the documents would distort their statistics.
//!
//! Each index has two points: its generation, and the alias of its vectors. An older version of this crate reads and writes
//! only the first one.

use std::collections::HashMap;

use engine::{EngineError, EngineErrorKind};
use model::{Generation, IndexName};
use qdrant_client::Qdrant;
use qdrant_client::qdrant::value::Kind;
use qdrant_client::qdrant::{GetPointsBuilder, PointId, PointStruct, RetrievedPoint, Value};
use uuid::Uuid;

use crate::error::is_not_found;
use crate::nodes::{Call, Nodes};
use crate::{QdrantOptions, changes, collections, response};

const GENERATION: &str = "generation";
const VECTORS: &str = "vectors";

/// Returns the id of the point with this name.
fn id(name: &str) -> PointId {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).to_string().into()
}

/// Returns the name of the point with the alias of the vectors.
fn vectors_name(name: IndexName) -> String {
    format!("{}-vectors", name.as_str())
}

/// Returns the stored generation of an index.
pub async fn read(nodes: &Nodes, collection: &str, name: IndexName) -> Result<Option<Generation>, EngineError> {
    let text = find(nodes, collection, name.as_str(), GENERATION, "reading the generation of the index").await?;
    Ok(text.and_then(|text| Uuid::parse_str(&text).ok()).map(Generation))
}

/// Stores the generation of an index. The first call creates the collection.
pub async fn write(
    nodes: &Nodes,
    options: &QdrantOptions,
    collection: &str,
    name: IndexName,
    generation: Generation,
) -> Result<(), EngineError> {
    let payload = [(GENERATION.to_owned(), Value::from(generation.0.to_string()))].into();
    let point = point(name.as_str(), payload);
    put(nodes, options, collection, point, "storing the generation of the index").await
}

/// Returns the alias of vectors that [`write_vectors`] stored last.
pub async fn read_vectors(
    nodes: &Nodes,
    options: &QdrantOptions,
    name: IndexName,
) -> Result<Option<String>, EngineError> {
    let collection = collections::generations(&options.prefix);
    find(nodes, &collection, &vectors_name(name), VECTORS, "reading the alias of the vectors").await
}

/// Stores the alias of the vectors that belong to an index; `None` if none has to exist.
pub async fn write_vectors(
    nodes: &Nodes,
    options: &QdrantOptions,
    name: IndexName,
    alias: Option<&str>,
) -> Result<(), EngineError> {
    let collection = collections::generations(&options.prefix);
    let payload = alias.map(|alias| (VECTORS.to_owned(), Value::from(alias))).into_iter().collect();
    let point = point(&vectors_name(name), payload);
    put(nodes, options, &collection, point, "storing the alias of the vectors").await
}

/// Returns a text of a point; `None` if all nodes that answer say that it, the point or the collection is missing.
///
/// # Errors
///
/// `Unavailable` if no node that answers knows the collection, and most of them did not answer.
async fn find(
    nodes: &Nodes,
    collection: &str,
    name: &str,
    field: &str,
    action: &str,
) -> Result<Option<String>, EngineError> {
    let request = &GetPointsBuilder::new(collection, vec![id(name)]).with_payload(true).build();
    let get = |client: Qdrant| async move {
        match client.get_points(request.clone()).await {
            Ok(response) => Ok(Answer::Known(text(&response.result, field))),
            Err(error) if is_not_found(&error) => Ok(Answer::NoCollection),
            Err(error) => Err(error),
        }
    };
    if let Answer::Known(Some(text)) = nodes.call(action, Call::Read, get).await? {
        return Ok(Some(text));
    }
    // An index without a generation is rebuilt, which takes more than the word of one node.
    let is_found = |answer: &Answer| matches!(answer, Answer::Known(Some(_)));
    let answers = nodes.call_all(action, get, |answers: &[Answer]| answers.iter().any(is_found)).await?;
    // An index of words alone has no alias of vectors. A node with the collection may say so while the others are down.
    if answers.iter().all(|answer| matches!(answer, Answer::NoCollection)) {
        nodes.require_most(action, &answers)?;
    }
    Ok(answers.into_iter().find_map(Answer::text))
}

/// Knowledge of one node about a text.
enum Answer {
    /// The node knows the collection; `None` if the point or its text is missing.
    Known(Option<String>),
    NoCollection,
}

impl Answer {
    fn text(self) -> Option<String> {
        match self {
            Self::Known(text) => text,
            Self::NoCollection => None,
        }
    }
}

/// Returns a text of the first point.
fn text(points: &[RetrievedPoint], field: &str) -> Option<String> {
    match points.first()?.payload.get(field)?.kind.as_ref()? {
        Kind::StringValue(text) => Some(text.clone()),
        _ => None,
    }
}

fn point(name: &str, payload: HashMap<String, Value>) -> PointStruct {
    PointStruct { id: Some(id(name)), payload, vectors: Some(qdrant_client::qdrant::NamedVectors::default().into()) }
}

async fn put(
    nodes: &Nodes,
    options: &QdrantOptions,
    collection: &str,
    point: PointStruct,
    action: &str,
) -> Result<(), EngineError> {
    let request = &changes::upsertion(collection, vec![point]);
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
