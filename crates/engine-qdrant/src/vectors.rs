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
use crate::{QdrantOptions, changes, collections, filter};

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

/// Stores the vectors of documents, and deletes all others that they had, and those of removed documents.
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
    for (alias, kind) in &kinds {
        if aliases.insert(alias.clone()) {
            collections::create_for_vectors(nodes, options, alias, kind.dimensions).await?;
        }
    }
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
