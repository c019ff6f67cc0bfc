//! First stage in rounds: each sends all missing queries at the same time.
//!
//! A search takes one round if the document frequencies of its words are known, even from an earlier state of the index: it asks
//! for them again with the searches. Further rounds request what an exact plan needs beyond that.

use engine::{EngineError, FirstStageRequest, FirstStageResponse};

use crate::MeilisearchEngine;
use crate::answers::Answers;
use crate::plan::Plan;
use crate::scope_statistics::{self, Lookup, ScopeStatistics};

pub async fn first_stage(
    engine: &MeilisearchEngine,
    request: &FirstStageRequest,
) -> Result<FirstStageResponse, EngineError> {
    let scope = request.collection;
    let Lookup { statistics, mut is_current, generation } = engine.scopes.get(scope);
    let mut answers = Answers::default();
    let mut statistics = match statistics {
        Some(statistics) => statistics,
        // Without the languages of the scope no query can be analyzed.
        None => {
            is_current = true;
            let mut responses = engine.search(scope, &[scope_statistics::query(scope)]).await?;
            let requested = responses.pop().map(|facets| ScopeStatistics::from_facets(&facets)).unwrap_or_default();
            engine.scopes.put(scope, generation, requested)
        }
    };
    // Ends, because every round adds the responses that the plan lacked, and counts in responses are final.
    loop {
        let plan = Plan::new(request, &statistics, is_current, &answers);
        let mut queries = plan.missing(&answers);
        if queries.is_empty() && is_current {
            return Ok(plan.finish(request, &statistics, &answers));
        }
        if !is_current {
            queries.push(scope_statistics::query(scope));
        }
        let mut responses = engine.search(scope, &queries).await?;
        if !is_current {
            is_current = true;
            queries.pop();
            let renewed = responses.pop().map(|facets| ScopeStatistics::from_facets(&facets)).unwrap_or_default();
            statistics = engine.scopes.put(scope, generation, renewed);
        }
        queries.into_iter().zip(responses).for_each(|(query, matches)| answers.add(query, matches));
    }
}
