//! First stage in rounds: each sends all missing queries at the same time.
//!
//! A search takes one round if the document frequencies of its words are known, even from an earlier state of the index: it asks
//! for them again with the searches. Further rounds request what an exact plan needs beyond that.
//!
//! Responses to earlier searches are used if the first round shows that the index has not changed since. If it has, the statistics of a
//! small scope are requested again: another instance may have added the first documents in a language.

use std::sync::Arc;

use engine::{EngineError, FirstStageRequest, FirstStageResponse};
use futures_util::future::try_join;
use model::IndexName;

use crate::MeilisearchEngine;
use crate::answers::Answers;
use crate::multi_search::{TokenMatches, TokenQuery};
use crate::plan::Plan;
use crate::response_cache::{self, Response, State};
use crate::scope_statistics::{self, Lookup, ScopeStatistics};

pub async fn first_stage(
    engine: &MeilisearchEngine,
    request: &FirstStageRequest,
) -> Result<FirstStageResponse, EngineError> {
    let scope = request.collection;
    let index = scope.index();
    let Lookup { statistics, mut is_current, generation } = engine.scopes.get(scope);
    let mut state = IndexState { index, known: engine.responses.known_state(index), is_verified: false };
    // True once this search has requested the statistics.
    let mut is_renewed = statistics.is_none();
    let mut statistics = match statistics {
        Some(statistics) => statistics,
        // Without the languages of the scope no query can be analyzed.
        None => {
            is_current = true;
            let mut responses = engine.search(scope, &[scope_statistics::query(scope)]).await?;
            let requested = responses.pop().map(|facets| ScopeStatistics::from_facets(&facets)).unwrap_or_default();
            engine.scopes.put(scope, generation, requested.with_state(state.known.clone()))
        }
    };
    let mut answers = Answers::default();
    // Ends, because every round adds the responses that the plan lacked, earlier ones are dropped once at most, when the state is
    // verified, and the statistics become outdated once at most.
    loop {
        let plan = Plan::new(request, &statistics, is_current, &answers);
        let mut queries = plan.missing(&answers);
        if state.take_cached(engine, &mut queries, &mut answers) {
            // With exact counts the plan may need less.
            continue;
        }
        if queries.is_empty() && is_current && (state.is_verified || answers.is_empty()) {
            return Ok(plan.finish(request, &statistics, &answers));
        }
        if !is_current {
            queries.push(scope_statistics::query(scope));
        }
        let before = state.known.clone();
        let mut responses = state.search(engine, request, &queries, &mut answers).await?;
        if is_current {
            is_current = is_renewed || statistics.is_of(state.known.as_ref());
        } else {
            (is_current, is_renewed) = (true, true);
            queries.pop();
            let renewed = responses.pop().map(|facets| ScopeStatistics::from_facets(&facets)).unwrap_or_default();
            statistics = engine.scopes.put(scope, generation, renewed.with_state(before));
        }
        queries.into_iter().zip(responses).for_each(|(query, matches)| answers.add(query, matches));
    }
}

/// State of the index during a first stage.
struct IndexState {
    index: IndexName,
    known: Option<State>,
    /// False until the server has confirmed `known`.
    is_verified: bool,
}

impl IndexState {
    /// Moves cached responses to `queries` into the answers. Returns true if there were any.
    fn take_cached(&self, engine: &MeilisearchEngine, queries: &mut Vec<TokenQuery>, answers: &mut Answers) -> bool {
        let Some(state) = &self.known else { return false };
        let before = queries.len();
        queries.retain(|query| match engine.responses.get(self.index, state, query) {
            Some(Response { limit, matches }) => {
                answers.add(TokenQuery { limit, ..query.clone() }, matches);
                false
            }
            None => true,
        });
        queries.len() < before
    }

    /// Runs the queries and, the first time, verifies the state: if the index has changed, earlier answers are dropped.
    async fn search(
        &mut self,
        engine: &MeilisearchEngine,
        request: &FirstStageRequest,
        queries: &[TokenQuery],
        answers: &mut Answers,
    ) -> Result<Vec<Arc<TokenMatches>>, EngineError> {
        let searches = async {
            let responses = engine.search(request.collection, queries).await?;
            Ok::<_, EngineError>(responses.into_iter().map(Arc::new).collect::<Vec<_>>())
        };
        let responses = if self.is_verified {
            searches.await?
        } else {
            let index = engine.index(self.index);
            let state = response_cache::state(&engine.client, &engine.transport, index);
            let (responses, state) = try_join(searches, state).await?;
            self.is_verified = true;
            if self.known.as_ref() != Some(&state) {
                *answers = Answers::default();
                engine.responses.set_known_state(self.index, state.clone());
                self.known = Some(state);
                // They may be of the state before.
                return Ok(responses);
            }
            responses
        };
        if let Some(state) = &self.known {
            for (query, matches) in queries.iter().zip(&responses) {
                engine.responses.put(self.index, state, query, Arc::clone(matches));
            }
        }
        Ok(responses)
    }
}
