//! Cache of responses by state of the index: a word that was searched before costs no search until the index changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use engine::EngineError;
use meilisearch_sdk::client::Client;
use meilisearch_sdk::indexes::Index;
use meilisearch_sdk::request::{HttpClient, Method};
use model::IndexName;
use moka::sync::Cache;
use serde::Deserialize;

use crate::error::from_client;
use crate::multi_search::{TokenHit, TokenMatches, TokenQuery};
use crate::transport::Transport;

/// Memory of the cache in bytes. Thousands of frequent words take about as much.
const CAPACITY: u64 = 64 << 20;

/// Maximum size of the filter of a cached response in bytes. A few longer ones, which hardly repeat, would push out all others.
const MAX_FILTER: usize = 4 << 10;

/// Time of the last change of an index, as the server writes it, to the nanosecond. Two states of an index have different ones.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq)]
#[serde(transparent)]
pub struct State(String);

/// Requests the state of an index: the server reads one value for it.
///
/// # Errors
///
/// Those of the server, among them a missing index.
pub async fn state(
    client: &Client<Transport>,
    transport: &Transport,
    index: &Index<Transport>,
) -> Result<State, EngineError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Response {
        updated_at: State,
    }
    let url = format!("{}/indexes/{}", client.get_host(), index.uid);
    let method: Method<(), ()> = Method::Get { query: () };
    let response: Response =
        transport.request(&url, method, 200).await.map_err(|error| from_client("searching", error))?;
    Ok(response.updated_at)
}

/// Responses of the server by query. A state is part of the key, so responses of former ones are never found again, and make room.
pub struct ResponseCache {
    responses: Cache<Key, Response>,
    /// Last known state of each index.
    states: Mutex<HashMap<IndexName, State>>,
}

#[derive(Eq, Hash, PartialEq)]
struct Key {
    index: IndexName,
    state: State,
    tokens: String,
    filter: Option<Arc<str>>,
}

/// Response to a query.
#[derive(Clone)]
pub struct Response {
    /// Number of hits that the query asked for.
    pub limit: usize,
    pub matches: Arc<TokenMatches>,
}

impl Default for ResponseCache {
    fn default() -> Self {
        let weight = |key: &Key, response: &Response| {
            let text = key.tokens.len() + key.filter.as_deref().map_or(0, str::len);
            (200 + text + response.matches.hits.len() * size_of::<TokenHit>()) as u32
        };
        Self { responses: Cache::builder().max_capacity(CAPACITY).weigher(weight).build(), states: Mutex::default() }
    }
}

impl ResponseCache {
    /// Returns the last known state of an index.
    pub fn known_state(&self, index: IndexName) -> Option<State> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner).get(&index).cloned()
    }

    pub fn set_known_state(&self, index: IndexName, state: State) {
        self.states.lock().unwrap_or_else(PoisonError::into_inner).insert(index, state);
    }

    /// Returns the response that answers a query in this state.
    pub fn get(&self, index: IndexName, state: &State, query: &TokenQuery) -> Option<Response> {
        let response = self.responses.get(&key(index, state, query)?)?;
        response.matches.suffices(response.limit, query.limit).then_some(response)
    }

    /// Caches a response to a query that was sent when the index was known to be in this state.
    pub fn put(&self, index: IndexName, state: &State, query: &TokenQuery, matches: Arc<TokenMatches>) {
        let Some(key) = key(index, state, query) else { return };
        // A shallower response is worth less, and replaces a deeper one only by a race.
        self.responses.insert(key, Response { limit: query.limit, matches });
    }
}

/// Returns the key of a query; `None` for one with a long filter, and for counts by value, which belong to the statistics of a scope.
fn key(index: IndexName, state: &State, query: &TokenQuery) -> Option<Key> {
    let key = || Key { index, state: state.clone(), tokens: query.tokens.clone(), filter: query.filter.clone() };
    let is_cached = query.facets.is_empty() && query.filter.as_deref().is_none_or(|filter| filter.len() <= MAX_FILTER);
    is_cached.then(key)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn query(tokens: &str, limit: usize) -> TokenQuery {
        TokenQuery { tokens: tokens.to_owned(), limit, ..TokenQuery::default() }
    }

    fn matches(hits: u128, total: u64) -> Arc<TokenMatches> {
        let hit = |number| TokenHit { id: Uuid::from_u128(number), length: 1, score: 1.0 };
        Arc::new(TokenMatches { hits: (0..hits).map(hit).collect(), total, facet_distribution: HashMap::new() })
    }

    #[test]
    fn responses_belong_to_a_state_a_filter_and_a_depth() {
        let cache = ResponseCache::default();
        let [before, after] = ["before", "after"].map(|time| State(time.to_owned()));
        cache.put(IndexName::Web, &before, &query("spump", 5), matches(5, 30));
        let found = |state, query: &TokenQuery| cache.get(IndexName::Web, state, query).is_some();
        assert!(found(&before, &query("spump", 5)) && found(&before, &query("spump", 0)));
        assert!(!found(&before, &query("spump", 6)), "too shallow");
        assert!(!found(&after, &query("spump", 5)));
        assert!(!found(&before, &TokenQuery { filter: Some("country = us".into()), ..query("spump", 5) }));
        assert!(cache.get(IndexName::Workspace, &before, &query("spump", 5)).is_none());
        cache.put(IndexName::Web, &before, &query("svalv", 9), matches(3, 3));
        assert!(found(&before, &query("svalv", 1_000)), "there are no more");
    }

    #[test]
    fn responses_with_long_filters_are_not_cached() {
        let cache = ResponseCache::default();
        let state = State("now".to_owned());
        for (length, is_cached) in [(MAX_FILTER, true), (MAX_FILTER + 1, false)] {
            let query = TokenQuery { filter: Some("f".repeat(length).into()), ..query("spump", 5) };
            cache.put(IndexName::Web, &state, &query, matches(5, 30));
            assert_eq!(cache.get(IndexName::Web, &state, &query).is_some(), is_cached, "{length}");
        }
    }
}
