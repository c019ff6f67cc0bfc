//! Vectors of passages, in collections of their own: one per space and number of components.
//!
//! The server fixes the number of components of a collection. A new model then neither touches the documents without its
//! vectors nor the collections of words.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::{EngineError, EngineErrorKind, IndexDocument, SemanticHit, SemanticRequest, VectorKind};
use model::{DocId, IndexName};
use qdrant_client::Qdrant;
use qdrant_client::qdrant::{Filter, Query, QueryPoints, VectorInput};

use crate::document::{components, embedded_point};
use crate::nodes::{Call, Nodes};
use crate::search::doc_id;
use crate::{QdrantOptions, changes, collections, filter, generations};

/// Number of documents requested beyond the limit: the server breaks ties by its own order.
const SPARE: usize = 32;

fn alias(prefix: &str, name: IndexName, kind: VectorKind) -> String {
    format!("{}{}", collections::vectors_alias(prefix, name), kind.name())
}

/// Returns the aliases of the existing collections.
async fn list(nodes: &Nodes, prefix: &str, name: IndexName) -> Result<BTreeSet<String>, EngineError> {
    let beginning = collections::vectors_alias(prefix, name);
    Ok(collections::aliases(nodes).await?.into_iter().filter(|alias| alias.starts_with(&beginning)).collect())
}

/// Forgets which alias of vectors has to exist. The next vectors create it.
pub async fn forget(nodes: &Nodes, options: &QdrantOptions, name: IndexName) -> Result<(), EngineError> {
    match generations::read_vectors(nodes, options, name).await? {
        Some(_) => generations::write_vectors(nodes, options, name, None).await,
        None => Ok(()),
    }
}

/// Creates the missing collections of these kinds, and stores the alias of the last one.
async fn create(
    nodes: &Nodes,
    options: &QdrantOptions,
    name: IndexName,
    kinds: &BTreeMap<String, VectorKind>,
    existing: &mut BTreeSet<String>,
) -> Result<(), EngineError> {
    let Some((last, _)) = kinds.last_key_value() else { return Ok(()) };
    let expected = generations::read_vectors(nodes, options, name).await?;
    for (alias, kind) in kinds {
        if existing.contains(alias) {
            continue;
        }
        if expected.as_ref() == Some(alias) {
            let message = format!("index `{alias}` does not exist on the server");
            return Err(EngineError::new(EngineErrorKind::Corrupt, message));
        }
        collections::create_for_vectors(nodes, options, alias, kind.dimensions).await?;
        existing.insert(alias.clone());
    }
    // After the creation: otherwise the vectors would seem to be lost meanwhile.
    if expected.as_ref() != Some(last) {
        generations::write_vectors(nodes, options, name, Some(last.as_str())).await?;
    }
    Ok(())
}

/// Stores the vectors of documents, and deletes all others that they had, and those of removed documents.
///
/// # Errors
///
/// `Corrupt` if the collection of the vectors was lost: a new one would have only the vectors of these documents.
pub async fn apply(
    nodes: &Nodes,
    options: &QdrantOptions,
    name: IndexName,
    documents: &Arc<Vec<IndexDocument>>,
    removed: &[DocId],
) -> Result<(), EngineError> {
    let mut aliases = list(nodes, &options.prefix, name).await?;
    let kinds: BTreeMap<String, VectorKind> = documents
        .iter()
        .filter_map(IndexDocument::vector_kind)
        .map(|kind| (alias(&options.prefix, name, kind), kind))
        .collect();
    create(nodes, options, name, &kinds, &mut aliases).await?;
    for alias in aliases {
        let kind = kinds.get(&alias).copied();
        let without = documents.iter().filter(|document| kind.is_none() || document.vector_kind() != kind);
        let outdated: Vec<DocId> = without.map(|document| document.doc_id).chain(removed.iter().copied()).collect();
        changes::remove(nodes, &alias, &outdated).await?;
        if kind.is_some() {
            let documents = Arc::clone(documents);
            let points = changes::convert(move || {
                documents.iter().filter(|document| document.vector_kind() == kind).map(embedded_point).collect()
            });
            changes::put(nodes, &alias, points.await?).await?;
        }
    }
    Ok(())
}

/// Deletes all vectors of an index.
pub async fn clear(nodes: &Nodes, options: &QdrantOptions, name: IndexName) -> Result<(), EngineError> {
    // A lost collection is created by the next vectors.
    forget(nodes, options, name).await?;
    for alias in list(nodes, &options.prefix, name).await? {
        changes::clear(nodes, &alias).await?;
    }
    Ok(())
}

pub async fn search(
    nodes: &Nodes,
    options: &QdrantOptions,
    request: &SemanticRequest,
) -> Result<Vec<SemanticHit>, EngineError> {
    let query = &QueryPoints {
        collection_name: alias(&options.prefix, request.collection.index(), request.kind()),
        query: Some(Query::new_nearest(VectorInput::new_dense(components(&request.vector)))),
        filter: Some(Filter::must(filter::of_request(request.collection, &request.filters))),
        limit: Some(request.limit.saturating_add(SPARE) as u64),
        ..QueryPoints::default()
    };
    let search = |client: Qdrant| async move { client.query(query.clone()).await };
    let points = match nodes.call("searching vectors", Call::Read, search).await {
        Ok(response) => response.result,
        // No document has vectors of this kind yet.
        Err(error) if error.kind == EngineErrorKind::Corrupt => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let hits = points.iter().map(|point| Ok(SemanticHit { doc_id: doc_id(point)?, cosine: point.score }));
    let mut hits: Vec<SemanticHit> = hits.collect::<Result<_, EngineError>>()?;
    hits.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then(a.doc_id.cmp(&b.doc_id)));
    hits.truncate(request.limit.max(1));
    Ok(hits)
}
