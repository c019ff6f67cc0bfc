//! Stems of a request and their document frequencies.

use engine::search_terms::SearchTerms;
use engine::{EngineError, FirstStageRequest};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use retrieval_core::analysis::Language;

use crate::counts::count;
use crate::filter;
use crate::nodes::Nodes;
use crate::scope_statistics::{Counts, ScopeStatistics};

/// Maximum number of stems counted per request. The longest are kept, which are mostly the rarest.
const MAX_COUNTED: usize = 1024;

/// Maximum number of counts of one request that are under way.
const CONCURRENT_COUNTS: usize = 32;

/// Returns the distinct stems of the texts and of the text for reranking, in order.
pub fn stems(request: &FirstStageRequest, languages: &[Language]) -> Vec<String> {
    let mut stems = SearchTerms::stems(request, languages);
    if stems.len() > MAX_COUNTED {
        // A stable sort, so that equal requests have equal responses.
        stems.sort_by_key(|stem| std::cmp::Reverse(stem.chars().count()));
        stems.truncate(MAX_COUNTED);
    }
    stems
}

/// Returns the document frequencies of the stems in the scope of a request. Only those missing in the cache are requested.
pub async fn document_frequencies(
    nodes: &Nodes,
    collection: &str,
    request: &FirstStageRequest,
    stems: &[String],
    scope: &ScopeStatistics,
) -> Result<Counts, EngineError> {
    let mut counts = scope.cached_counts(stems.iter());
    let missing: Vec<String> = stems.iter().filter(|stem| !counts.contains_key(*stem)).cloned().collect();
    let requested = missing.into_iter().map(|stem| async move {
        let mut conditions = filter::of_scope(request.collection);
        conditions.push(filter::stem(&stem));
        Ok::<_, EngineError>((stem, count(nodes, collection, conditions).await?))
    });
    let requested: Counts = stream::iter(requested).buffer_unordered(CONCURRENT_COUNTS).try_collect().await?;
    scope.cache_counts(&requested);
    counts.extend(requested);
    Ok(counts)
}
