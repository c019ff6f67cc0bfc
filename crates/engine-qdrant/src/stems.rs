//! Document frequencies of the stems of a request.

use engine::{EngineError, FirstStageRequest};
use futures_util::stream::{self, StreamExt, TryStreamExt};

use crate::counts::count;
use crate::filter;
use crate::nodes::Nodes;
use crate::scope_statistics::{Counts, ScopeStatistics};

/// Maximum number of counts of one request that are under way.
const CONCURRENT_COUNTS: usize = 32;

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
