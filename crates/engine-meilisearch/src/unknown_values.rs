//! Counts of documents that meet a request but for unknown values. They are part of the request's round trip.

use std::sync::Arc;

use engine::{FirstStageRequest, UnknownValues, estimate};

use crate::filter::{self, WithoutValue};
use crate::multi_search::{TokenMatches, TokenQuery};

/// Queries for the counts of one request.
pub struct UnknownValueCounts {
    filters: Vec<WithoutValue>,
    /// Alternatives of the request: words or phrases.
    alternatives: Vec<String>,
}

impl UnknownValueCounts {
    /// Plans the counts for a request that `searches` answer. No filter on values, no counts.
    pub fn of(request: &FirstStageRequest, searches: &[TokenQuery]) -> Self {
        let filters = filter::without_values(request.collection, &request.filters);
        let alternatives = match filters.is_empty() {
            true => Vec::new(),
            false => searches.iter().map(|search| search.tokens.clone()).collect(),
        };
        Self { filters, alternatives }
    }

    /// Returns the queries: for each filter one for all documents without its value, then one for each alternative.
    pub fn queries(&self) -> Vec<TokenQuery> {
        let queries = self.filters.iter().flat_map(|without| {
            let tokens = std::iter::once(String::new()).chain(self.alternatives.iter().cloned());
            tokens.map(|tokens| {
                let filter = Some(Arc::clone(&without.filter));
                TokenQuery { tokens, filter, ..TokenQuery::default() }
            })
        });
        queries.collect()
    }

    /// Counts the documents from the responses to [`queries`](Self::queries).
    pub fn count(&self, responses: &[TokenMatches]) -> UnknownValues {
        let mut counts = UnknownValues::default();
        for (without, responses) in self.filters.iter().zip(responses.chunks(1 + self.alternatives.len())) {
            if let [all, matching @ ..] = responses {
                *(without.count)(&mut counts) =
                    estimate::union(all.total, matching.iter().map(|matches| matches.total));
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use engine::Filters;
    use model::Collection;

    use super::*;

    #[test]
    fn counts_are_the_unions_of_the_alternatives() {
        let filters = Filters { language: Some("en".into()), country: Some("us".into()), ..Filters::default() };
        let mut request = FirstStageRequest {
            collection: Collection::Web,
            texts: Vec::new(),
            exact_phrase: false,
            rerank_text: None,
            filters,
            limit: 10,
        };
        let searches = ["one", "two"].map(|tokens| TokenQuery { tokens: tokens.into(), ..TokenQuery::default() });
        let counts = UnknownValueCounts::of(&request, &searches);
        let queries = counts.queries();
        let tokens: Vec<&str> = queries.iter().map(|query| query.tokens.as_str()).collect();
        assert_eq!(tokens, ["", "one", "two", "", "one", "two"]);
        assert!(queries.iter().all(|query| query.limit == 0));
        let matches = |total| TokenMatches { hits: Vec::new(), total, facet_distribution: HashMap::new() };
        let responses: Vec<TokenMatches> = [1_000, 10, 0, 2, 1, 2].into_iter().map(matches).collect();
        assert_eq!(counts.count(&responses), UnknownValues { language: 10, country: 2, published_at: 0 });

        request.filters = Filters::default();
        assert!(UnknownValueCounts::of(&request, &searches).queries().is_empty());
    }
}
