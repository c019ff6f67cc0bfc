//! Responses of the server to the queries of one request.

use std::collections::HashMap;
use std::sync::Arc;

use crate::multi_search::{TokenMatches, TokenQuery};

/// Responses by tokens and filter. A deep response answers shallower queries too.
#[derive(Default)]
pub struct Answers(HashMap<String, Vec<Answer>>);

struct Answer {
    query: TokenQuery,
    matches: Arc<TokenMatches>,
}

impl Answers {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn add(&mut self, query: TokenQuery, matches: Arc<TokenMatches>) {
        let known = self.0.entry(query.tokens.clone()).or_default();
        known.retain(|answer| !answer.query.has_equal_matches(&query));
        known.push(Answer { query, matches });
    }

    fn find(&self, query: &TokenQuery) -> Option<&Answer> {
        let answers = |known: &&Answer| {
            known.query.has_equal_matches(query) && known.matches.suffices(known.query.limit, query.limit)
        };
        self.0.get(&query.tokens)?.iter().find(answers)
    }

    pub fn has(&self, query: &TokenQuery) -> bool {
        self.find(query).is_some()
    }

    /// Returns the number of documents that match a query.
    pub fn total(&self, query: &TokenQuery) -> Option<u64> {
        self.find(query).map(|answer| answer.matches.total)
    }

    /// Returns the response to a query, with as many hits as it asks for: never more, so that a request has the same result
    /// whatever was asked before.
    pub fn get(&self, query: &TokenQuery) -> Option<TokenMatches> {
        let TokenMatches { hits, total, facet_distribution } = self.find(query)?.matches.as_ref();
        let hits = hits[..hits.len().min(query.limit)].to_vec();
        Some(TokenMatches { hits, total: *total, facet_distribution: facet_distribution.clone() })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use uuid::Uuid;

    use super::*;
    use crate::multi_search::TokenHit;

    fn query(limit: usize) -> TokenQuery {
        TokenQuery { tokens: "spump".into(), limit, ..TokenQuery::default() }
    }

    fn matches(hits: u128, total: u64) -> Arc<TokenMatches> {
        let hit = |number| TokenHit { id: Uuid::from_u128(number), length: 1, score: 1.0 };
        Arc::new(TokenMatches { hits: (0..hits).map(hit).collect(), total, facet_distribution: HashMap::new() })
    }

    fn hits(answers: &Answers, limit: usize) -> Option<usize> {
        answers.get(&query(limit)).map(|matches| matches.hits.len())
    }

    #[test]
    fn deep_responses_answer_shallower_queries() {
        let mut answers = Answers::default();
        assert_eq!(answers.total(&query(0)), None);
        answers.add(query(10), matches(10, 30));
        assert_eq!((hits(&answers, 4), hits(&answers, 10), hits(&answers, 11)), (Some(4), Some(10), None));
        assert_eq!(answers.total(&query(0)), Some(30));
        answers.add(query(40), matches(30, 30));
        assert_eq!(hits(&answers, 50), Some(30), "there are no more");
    }

    #[test]
    fn filters_are_told_apart() {
        let mut answers = Answers::default();
        let filtered = TokenQuery { filter: Some("country = us".into()), ..query(5) };
        answers.add(filtered.clone(), matches(1, 1));
        assert!(answers.has(&filtered) && !answers.has(&query(0)));
        answers.add(query(0), matches(0, 9));
        assert_eq!((answers.total(&filtered), answers.total(&query(0))), (Some(1), Some(9)));
    }
}
