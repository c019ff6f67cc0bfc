//! Several searches in one round trip.

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

/// One search: documents that hold all tokens, those first in which they have the highest impact.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Tokens with spaces between; empty for all documents. The server reads the first ten.
    pub tokens: String,
    pub filter: Option<String>,
    pub limit: usize,
    pub facets: &'static [&'static str],
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    pub hits: Vec<WordHit>,
    /// Documents that match: exact, in spite of its name, since nothing is left out on the way.
    #[serde(rename = "estimatedTotalHits")]
    pub total: u64,
    /// Documents by value, by attribute.
    #[serde(default)]
    pub facet_distribution: HashMap<String, HashMap<String, u64>>,
}

#[derive(Debug, Deserialize)]
pub struct WordHit {
    pub id: Uuid,
    pub length: u32,
    /// 1 for the first attribute, and down in equal steps.
    #[serde(rename = "_rankingScore")]
    pub score: f64,
}

#[derive(Deserialize)]
struct Answers {
    results: Vec<Answer>,
}

/// The answers, in the order of the questions.
pub async fn ask(
    client: &Client<Transport>,
    transport: &Transport,
    index: &Index<Transport>,
    questions: &[Question],
) -> Result<Vec<Answer>, EngineError> {
    let retrieve = [attribute::ID, attribute::LENGTH];
    let mut search = MultiSearchQuery::new(client);
    for question in questions {
        let mut query = SearchQuery::new(index);
        query
            .with_query(&question.tokens)
            .with_limit(question.limit)
            .with_attributes_to_retrieve(Selectors::Some(&retrieve))
            .with_matching_strategy(MatchingStrategies::ALL)
            .with_show_ranking_score(question.limit > 0)
            .with_index_uid();
        if let Some(filter) = &question.filter {
            query.with_filter(filter);
        }
        if !question.facets.is_empty() {
            query.with_facets(Selectors::Some(question.facets));
        }
        search.with_search_query(query);
    }
    let url = format!("{}/multi-search", client.get_host());
    let method = Method::Post { query: (), body: &search };
    let answers: Answers =
        transport.request(&url, method, 200).await.map_err(|error| from_client("searching", error))?;
    if answers.results.len() != questions.len() {
        let kind = engine::EngineErrorKind::Unavailable;
        let message = format!("{} searches have {} answers", questions.len(), answers.results.len());
        return Err(EngineError::new(kind, message));
    }
    Ok(answers.results)
}
