//! First stage: terms as sparse queries, counts of documents.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use engine::search_terms::SearchTerms;
use engine::{EngineError, Filters, FirstStageRequest, Hit, UnknownValues, estimate};
use futures_util::future::try_join_all;
use model::{Collection, DocId};
use qdrant_client::Qdrant;
use qdrant_client::qdrant::point_id::PointIdOptions;
use qdrant_client::qdrant::{Condition, Filter, Query, QueryBatchPoints, QueryPoints, ScoredPoint, VectorInput};
use retrieval_core::analysis::QueryTerm;
use retrieval_core::bm25::single as bm25;
use uuid::Uuid;

use crate::counts::{count_about, count_some};
use crate::document::TERMS;
use crate::error::unavailable;
use crate::filter::{self, WithoutValue};
use crate::impact;
use crate::nodes::{Call, Nodes};
use crate::scope_statistics::ScopeStatistics;

/// Number of documents requested beyond the limit: the server breaks ties by its own order.
const SPARE: usize = 64;

/// Sum of document frequencies up to which matches of words are counted exactly. Beyond, the server estimates their number.
/// Phrases are always counted: the server reads the list of their rarest token.
const MAX_COUNTED: u64 = 50_000;

/// Results of a search.
pub struct Matches {
    pub hits: Vec<Hit>,
    pub total: u64,
    pub unknown_values: UnknownValues,
}

/// Searches the words or phrases of a request, and counts its matches meanwhile.
pub async fn search(
    nodes: &Nodes,
    collection: &str,
    request: &FirstStageRequest,
    terms: &SearchTerms,
    scope: &ScopeStatistics,
) -> Result<Matches, EngineError> {
    let stems: BTreeSet<&str> =
        terms.texts.iter().flatten().flat_map(|term| &term.variants).map(String::as_str).collect();
    if terms.match_nothing() || terms.phrases.is_none() && stems.is_empty() {
        return Ok(Matches { hits: Vec::new(), total: 0, unknown_values: UnknownValues::default() });
    }
    let matching = match &terms.phrases {
        Some(phrases) => filter::any_phrase(phrases),
        None => filter::any_stem(stems.iter().copied()),
    };
    let mut conditions = filter::of_request(request.collection, &request.filters);
    if terms.phrases.is_some() {
        conditions.push(matching.clone());
    }
    let limit = request.limit.saturating_add(SPARE);
    let texts = terms.texts.iter().filter(|text| !text.is_empty());
    let mut queries: Vec<QueryPoints> =
        texts.map(|text| query(collection, text, terms, scope, &conditions, limit)).collect();
    if terms.phrases.is_some() {
        // A document in a language that the phrase was not analyzed in may have none of its stems.
        queries.push(points(collection, &conditions, limit));
    }
    let frequencies = || stems.iter().filter_map(|stem| terms.document_frequency.get(*stem).copied());
    let expected = frequencies().sum::<u64>();
    let is_exact = counts_exactly(terms.phrases.is_some(), expected);
    let counted = async {
        // All matches are among the hits of each text.
        if expected <= limit as u64 {
            return Ok(None);
        }
        // The matches of a workspace are told to its owner, those of the web to nobody.
        if request.collection == Collection::Web && request.filters == Filters::default() && terms.phrases.is_none() {
            return Ok(Some(estimate::union(scope.documents, frequencies())));
        }
        let matching = terms.phrases.is_none().then(|| matching.clone());
        let conditions = conditions.iter().cloned().chain(matching).collect();
        count_about(nodes, collection, conditions, is_exact).await.map(Some)
    };
    let (batches, counted, unknown_values) = tokio::try_join!(
        query_batch(nodes, collection, &queries),
        counted,
        count_unknown(nodes, collection, request, &matching, is_exact),
    )?;
    let is_complete = batches.iter().all(|points| points.len() < limit);
    let mut best: HashMap<DocId, f32> = HashMap::new();
    for point in batches.into_iter().flatten() {
        let highest = best.entry(doc_id(&point)?).or_insert(point.score);
        *highest = highest.max(point.score);
    }
    let found = best.len() as u64;
    let total = if is_complete { found } else { counted.unwrap_or(found).max(found) };
    Ok(Matches { hits: Hit::best(best, request.limit), total, unknown_values })
}

/// Returns the query for the documents with the highest BM25 scores for one text.
fn query(
    collection: &str,
    text: &[QueryTerm],
    terms: &SearchTerms,
    scope: &ScopeStatistics,
    conditions: &[Condition],
    limit: usize,
) -> QueryPoints {
    let mut weights: BTreeMap<u32, f32> = BTreeMap::new();
    for term in text {
        let weight = term.weight * bm25::idf(terms.frequency_of(term, scope.documents), scope.documents);
        let variants = term.variants.iter();
        for (dimension, factor) in variants.flat_map(|stem| impact::dimensions(stem, scope.average_terms as f32)) {
            let highest = weights.entry(dimension).or_insert(0.0);
            *highest = highest.max(weight * factor);
        }
    }
    let (indices, values): (Vec<u32>, Vec<f32>) = weights.into_iter().unzip();
    QueryPoints {
        query: Some(Query::new_nearest(VectorInput::new_sparse(indices, values))),
        using: Some(TERMS.to_owned()),
        ..points(collection, conditions, limit)
    }
}

/// Returns the query for documents that meet the conditions, in the order of their ids, with a score of 0.
fn points(collection: &str, conditions: &[Condition], limit: usize) -> QueryPoints {
    QueryPoints {
        collection_name: collection.to_owned(),
        filter: Some(Filter::must(conditions.iter().cloned())),
        limit: Some(limit as u64),
        ..QueryPoints::default()
    }
}

async fn query_batch(
    nodes: &Nodes,
    collection: &str,
    queries: &[QueryPoints],
) -> Result<Vec<Vec<ScoredPoint>>, EngineError> {
    let request = &QueryBatchPoints {
        collection_name: collection.to_owned(),
        query_points: queries.to_vec(),
        ..QueryBatchPoints::default()
    };
    let query = |client: Qdrant| async move { client.query_batch(request.clone()).await };
    let response = nodes.call("searching", Call::Read, query).await?;
    if response.result.len() != queries.len() {
        let message = format!("the server returned {} results for {} searches", response.result.len(), queries.len());
        return Err(unavailable(message));
    }
    Ok(response.result.into_iter().map(|batch| batch.result).collect())
}

/// Returns false if the server estimates numbers of matches, given the sum of document frequencies: the hits of a search wait for them.
fn counts_exactly(has_phrases: bool, expected: u64) -> bool {
    has_phrases || expected <= MAX_COUNTED
}

/// Counts the documents that meet a request but for unknown values, or lets the server estimate their number.
async fn count_unknown(
    nodes: &Nodes,
    collection: &str,
    request: &FirstStageRequest,
    matching: &Condition,
    is_exact: bool,
) -> Result<UnknownValues, EngineError> {
    let filters = filter::without_values(request.collection, &request.filters);
    let counts = filters.iter().map(|WithoutValue { conditions, .. }| {
        let conditions = conditions.iter().cloned().chain([matching.clone()]).collect();
        count_some(nodes, collection, conditions, is_exact)
    });
    let mut unknown = UnknownValues::default();
    for (without, documents) in filters.iter().zip(try_join_all(counts).await?) {
        *(without.count)(&mut unknown) = documents;
    }
    Ok(unknown)
}

/// Returns the id of a document from that of its point.
pub fn doc_id(point: &ScoredPoint) -> Result<DocId, EngineError> {
    let id = point.id.as_ref().and_then(|id| id.point_id_options.as_ref());
    let uuid = match id {
        Some(PointIdOptions::Uuid(text)) => Uuid::parse_str(text).ok(),
        Some(PointIdOptions::Num(_)) | None => None,
    };
    uuid.map(DocId).ok_or_else(|| unavailable(format!("the server returned a point with the id `{id:?}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_of_common_words_are_estimated_and_those_of_phrases_counted() {
        assert!(counts_exactly(false, MAX_COUNTED) && counts_exactly(true, u64::MAX));
        assert!(!counts_exactly(false, MAX_COUNTED + 1));
    }
}
