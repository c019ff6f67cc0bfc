//! Batch of searches in one round trip.

use std::collections::HashMap;

use engine::EngineError;
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
#[derive(Clone, Debug, Default)]
pub struct TokenQuery {
    /// Tokens separated by spaces; empty for all documents. The server reads the first ten.
    pub tokens: String,
    pub filter: Option<String>,
    pub limit: usize,
    pub facets: &'static [&'static str],
}

/// Response to a [`TokenQuery`].
#[derive(Debug, Deserialize)]
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

#[derive(Debug, Deserialize)]
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

/// Runs the queries and returns their responses in the same order.
pub async fn multi_search(
    client: &Client<Transport>,
    transport: &Transport,
    index: &Index<Transport>,
    queries: &[TokenQuery],
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
