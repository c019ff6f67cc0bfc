use api_types::{Freshness, SearchIndex, SearchRequest, SearchResponse, SearchResult, timestamp};
use time::OffsetDateTime;
use uuid::Uuid;

/// Maximum number of results of a search.
const MAX_RESULTS: usize = 50;

/// A search of the API, and what the API has no field for.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchPlan {
    pub request: SearchRequest,
    /// Results before the requested page.
    pub(crate) skip: usize,
    pub(crate) take: usize,
}

impl SearchPlan {
    /// Creates a plan for at most `take` results.
    pub(crate) fn new(query: impl Into<String>, take: usize) -> Self {
        let request = SearchRequest::new(query);
        Self { request, skip: 0, take: take.clamp(1, MAX_RESULTS) }
    }

    /// Restricts the results to those that were published before `bound`.
    pub(crate) fn published_before(&mut self, bound: OffsetDateTime) {
        self.request.freshness_policy.published_before = Some(timestamp::rfc3339(bound));
    }

    /// Restricts the results to web pages of `domains`, if there are any.
    pub(crate) fn require_domains(&mut self, domains: &[String]) {
        self.request.source_policy.include_domains = domains.iter().map(|domain| bare(domain)).collect();
        self.request.source_policy.require_domain_match = !domains.is_empty();
    }

    /// Drops web pages of `domains`.
    pub(crate) fn exclude_domains(&mut self, domains: &[String]) {
        self.request.source_policy.exclude_domains = domains.iter().map(|domain| bare(domain)).collect();
    }

    pub(crate) fn within(&mut self, window: Freshness) {
        self.request.freshness_policy.freshness = Some(window);
    }

    /// Returns the search. It covers the web and the files of `workspace`, the organization; with required domains only the
    /// web, because files have no domain. `workspace` is `None` if the server has no index of files.
    pub fn search(&self, workspace: Option<Uuid>) -> SearchRequest {
        let mut request = self.request.clone();
        let wanted = self.skip.saturating_add(self.take);
        request.max_results = i64::try_from(wanted.min(MAX_RESULTS)).unwrap_or(1);
        if let Some(workspace) = workspace.filter(|_| !request.source_policy.require_domain_match) {
            request.scope.indexes = Some(vec![SearchIndex::Web, SearchIndex::Workspace]);
            request.scope.workspace_id = Some(workspace.to_string());
        }
        request
    }

    /// Returns the results of the requested page.
    pub fn select(&self, response: SearchResponse) -> Vec<SearchResult> {
        response.results.unwrap_or_default().into_iter().skip(self.skip).take(self.take).collect()
    }
}

/// Strips the scheme and the final slash that some users write around a domain.
fn bare(domain: &str) -> String {
    let text = domain.trim();
    let text = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).unwrap_or(text);
    text.strip_suffix('/').unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKSPACE: Option<Uuid> = Some(Uuid::nil());

    #[test]
    fn without_an_index_of_files_the_web_is_searched() {
        let search = SearchPlan::new("x", 5).search(None);
        assert_eq!((search.scope.indexes, search.scope.workspace_id), (None, None));
    }

    #[test]
    fn required_domains_leave_out_files() {
        let mut plan = SearchPlan::new("x", 5);
        let search = plan.search(WORKSPACE);
        assert_eq!(search.scope.indexes, Some(vec![SearchIndex::Web, SearchIndex::Workspace]));
        assert_eq!((search.max_results, search.scope.workspace_id), (5, Some(Uuid::nil().to_string())));
        plan.require_domains(&["https://Example.com/".to_owned(), "a.example/docs".to_owned()]);
        let search = plan.search(WORKSPACE);
        assert_eq!((search.scope.indexes, search.scope.workspace_id), (None, None));
        assert_eq!(search.source_policy.include_domains, ["Example.com", "a.example/docs"]);
        assert!(search.source_policy.require_domain_match);
    }

    #[test]
    fn limits_are_kept() {
        assert_eq!(SearchPlan::new("x", 0).search(WORKSPACE).max_results, 1);
        assert_eq!(SearchPlan::new("x", 1_000).search(WORKSPACE).max_results, 50);
        let plan = SearchPlan { skip: usize::MAX, ..SearchPlan::new("x", 10) };
        assert_eq!(plan.search(WORKSPACE).max_results, 50);
        let mut plan = SearchPlan::new("x", 3);
        plan.published_before(OffsetDateTime::UNIX_EPOCH);
        let search = plan.search(WORKSPACE);
        assert_eq!(search.freshness_policy.published_before.as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(search.max_results, 3);
    }
}
