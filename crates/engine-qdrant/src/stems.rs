//! Stems of a request and their document frequencies.

use engine::search_terms::SearchTerms;
use engine::{EngineError, FirstStageRequest};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use retrieval_core::analysis::Language;

use crate::counts::count;
use crate::filter;
use crate::nodes::Nodes;
use crate::scope_statistics::{Counts, ScopeStatistics};

/// Maximum number of stems counted per request: those of the searched texts first, and of these the longest, which are mostly the
/// rarest.
const MAX_COUNTED: usize = 1024;

/// Maximum number of counts of one request that are under way.
const CONCURRENT_COUNTS: usize = 32;

/// Returns the distinct stems of the texts and of the text for reranking that are counted.
pub fn stems(request: &FirstStageRequest, languages: &[Language]) -> Vec<String> {
    let mut stems = SearchTerms::stems(request, languages);
    if stems.len() > MAX_COUNTED {
        let searched = FirstStageRequest { rerank_text: None, ..request.clone() };
        let searched = SearchTerms::stems(&searched, languages).len();
        // Those of the searched texts come first. A stable sort, so that equal requests have equal responses.
        stems[..searched].sort_by_key(|stem| std::cmp::Reverse(stem.chars().count()));
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

#[cfg(test)]
mod tests {
    use engine::Filters;
    use model::Collection;

    use super::*;

    #[test]
    fn stems_of_searched_texts_are_counted_first() {
        let words = |count: usize, letters: usize| -> String {
            (0..count).map(|word| format!("{}{word:04} ", "x".repeat(letters))).collect()
        };
        let request = |text: String, rerank_text: String| FirstStageRequest {
            collection: Collection::Web,
            texts: vec![text],
            exact_phrase: false,
            rerank_text: Some(rerank_text),
            filters: Filters::default(),
            limit: 10,
        };
        let counted = stems(&request("solar car tax".to_owned(), words(2_000, 9)), &[Language::English]);
        assert_eq!(counted.len(), MAX_COUNTED);
        assert_eq!(counted[..3], ["solar", "car", "tax"]);
        let searched = format!("{} car", words(2_000, 9));
        let counted = stems(&request(searched, "solar tax".to_owned()), &[Language::English]);
        assert_eq!(counted.len(), MAX_COUNTED);
        assert!(counted.iter().all(|stem| stem.len() > 9));
    }
}
