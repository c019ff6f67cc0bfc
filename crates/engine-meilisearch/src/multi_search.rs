//! Batch of searches in one round trip, spread over the cores of the server.

use std::collections::HashMap;
use std::sync::Arc;

use engine::EngineError;
use futures_util::future::try_join_all;
use meilisearch_sdk::client::Client;
use meilisearch_sdk::indexes::Index;
use meilisearch_sdk::request::{HttpClient, Method};
use meilisearch_sdk::search::{MatchingStrategies, MultiSearchQuery, SearchQuery, Selectors};
use serde::Deserialize;
use uuid::Uuid;

use crate::document::attribute;
use crate::error::from_client;
use crate::transport::Transport;

/// Search for documents that contain all tokens, ordered by impact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenQuery {
    /// Tokens separated by spaces; empty for all documents. The server reads the first ten.
    pub tokens: String,
    /// Shared by the searches of a request: a list of sites may take hundreds of kilobytes.
    pub filter: Option<Arc<str>>,
    pub limit: usize,
    pub facets: &'static [&'static str],
}

/// Maximum number of requests that a batch is divided into. The server executes the searches of one request sequentially.
const MAX_REQUESTS: usize = 4;

/// Cost of a search without hits, in hits.
const SEARCH_COST: usize = 35;
/// Cost of facet counts, in hits.
const FACETS_COST: usize = 200;
/// Cost of a part of a batch, in hits, below which another request costs more than it saves.
const REQUEST_COST: usize = 100;

impl TokenQuery {
    /// Returns true if both queries match the same documents.
    pub fn has_equal_matches(&self, other: &Self) -> bool {
        self.tokens == other.tokens && self.filter == other.filter && self.facets == other.facets
    }

    /// Returns true if the response to this query answers the other one.
    pub fn covers(&self, other: &Self) -> bool {
        self.has_equal_matches(other) && self.limit >= other.limit
    }

    /// Returns the approximate time that the server takes for the search, in hits.
    fn cost(&self) -> usize {
        SEARCH_COST + self.limit + if self.facets.is_empty() { 0 } else { FACETS_COST }
    }
}

/// Response to a [`TokenQuery`].
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenMatches {
    pub hits: Vec<TokenHit>,
    /// Number of matching documents. Exact despite its wire name, since these searches skip no documents.
    #[serde(rename = "estimatedTotalHits")]
    pub total: u64,
    /// Document counts by attribute and value.
    #[serde(default)]
    pub facet_distribution: HashMap<String, HashMap<String, u64>>,
}

impl TokenMatches {
    /// Returns true if this response to a query with the limit `requested` has as many hits as one with `limit` would.
    pub fn suffices(&self, requested: usize, limit: usize) -> bool {
        requested >= limit || self.hits.len() as u64 >= self.total
    }
}

#[derive(Clone, Debug, Deserialize)]
pub struct TokenHit {
    pub id: Uuid,
    pub length: u32,
    /// 1 for the first attribute, decreasing in equal steps.
    #[serde(rename = "_rankingScore")]
    pub score: f64,
}

#[derive(Deserialize)]
struct MultiSearchResponse {
    results: Vec<TokenMatches>,
}

/// Runs the queries in concurrent requests and returns their responses in the same order.
pub async fn multi_search(
    client: &Client<Transport>,
    transport: &Transport,
    index: &Index<Transport>,
    queries: &[TokenQuery],
) -> Result<Vec<TokenMatches>, EngineError> {
    let parts = divide(queries);
    let requests = parts.iter().map(|part| {
        let queries: Vec<&TokenQuery> = part.iter().map(|position| &queries[*position]).collect();
        async move { send(client, transport, index, &queries).await }
    });
    let responses = try_join_all(requests).await?;
    let positions = parts.iter().flatten().copied();
    let mut in_order: Vec<(usize, TokenMatches)> = positions.zip(responses.into_iter().flatten()).collect();
    in_order.sort_unstable_by_key(|(position, _)| *position);
    Ok(in_order.into_iter().map(|(_, matches)| matches).collect())
}

/// Divides a batch into parts of similar cost, given as positions of their queries.
fn divide(queries: &[TokenQuery]) -> Vec<Vec<usize>> {
    let total: usize = queries.iter().map(TokenQuery::cost).sum();
    let count = total.div_ceil(REQUEST_COST).clamp(1, MAX_REQUESTS.min(queries.len()).max(1));
    let mut parts = vec![(0, Vec::new()); count];
    let mut largest_first: Vec<usize> = (0..queries.len()).collect();
    largest_first.sort_by_key(|position| std::cmp::Reverse(queries[*position].cost()));
    for position in largest_first {
        if let Some((cost, part)) = parts.iter_mut().min_by_key(|(cost, _)| *cost) {
            *cost += queries[position].cost();
            part.push(position);
        }
    }
    parts.into_iter().map(|(_, part)| part).collect()
}

/// Runs the queries in one request.
async fn send(
    client: &Client<Transport>,
    transport: &Transport,
    index: &Index<Transport>,
    queries: &[&TokenQuery],
) -> Result<Vec<TokenMatches>, EngineError> {
    let retrieve = [attribute::ID, attribute::LENGTH];
    let mut batch = MultiSearchQuery::new(client);
    for query in queries {
        let mut search = SearchQuery::new(index);
        search
            .with_query(&query.tokens)
            .with_limit(query.limit)
            .with_attributes_to_retrieve(Selectors::Some(&retrieve))
            .with_matching_strategy(MatchingStrategies::ALL)
            .with_show_ranking_score(query.limit > 0)
            .with_index_uid();
        if let Some(filter) = &query.filter {
            search.with_filter(filter);
        }
        if !query.facets.is_empty() {
            search.with_facets(Selectors::Some(query.facets));
        }
        batch.with_search_query(search);
    }
    let url = format!("{}/multi-search", client.get_host());
    let method = Method::Post { query: (), body: &batch };
    let response: MultiSearchResponse =
        transport.request(&url, method, 200).await.map_err(|error| from_client("searching", error))?;
    if response.results.len() != queries.len() {
        let kind = engine::EngineErrorKind::Unavailable;
        let message = format!("the server returned {} results for {} searches", response.results.len(), queries.len());
        return Err(EngineError::new(kind, message));
    }
    Ok(response.results)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queries(limits: &[usize]) -> Vec<TokenQuery> {
        limits.iter().map(|limit| TokenQuery { limit: *limit, ..TokenQuery::default() }).collect()
    }

    #[test]
    fn large_batches_are_divided_into_parts_of_similar_cost() {
        let queries = queries(&[200, 10, 150, 40, 90, 0, 60, 30]);
        let parts = divide(&queries);
        let costs: Vec<usize> =
            parts.iter().map(|part| part.iter().map(|position| queries[*position].cost()).sum()).collect();
        assert_eq!(parts.len(), MAX_REQUESTS);
        assert!(costs.iter().max() <= costs.iter().min().map(|cost| cost + cost / 2).as_ref(), "{costs:?}");
        let mut all: Vec<usize> = parts.concat();
        all.sort_unstable();
        assert_eq!(all, (0..queries.len()).collect::<Vec<_>>());
    }

    #[test]
    fn small_batches_are_one_request() {
        assert_eq!(divide(&queries(&[0, 0])), [[0, 1]]);
        assert_eq!(divide(&queries(&[500])), [[0]]);
    }
}
