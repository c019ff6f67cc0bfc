//! Everything that determines a run, as it is stored.

use app::Deadline;
use app::search::{Detail, SearchRequest, SourcePolicy};
use model::{IndexName, OrganizationId, SessionId, Timestamp};
use retrieval_core::site::Site;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::engine::{Assignment, Depth};

/// Passages of each hit.
const PASSAGES_PER_HIT: usize = 3;

/// The assignment of a run and the limits of its searches.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct StoredRequest {
    pub assignment: Assignment,
    pub search: StoredSearch,
}

/// Limits of searches. Times are milliseconds since the Unix epoch.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct StoredSearch {
    indexes: Vec<String>,
    workspace_id: Option<Uuid>,
    language: Option<String>,
    country: Option<String>,
    exact_match: bool,
    labels: Vec<String>,
    published_after: Option<i64>,
    published_before: Option<i64>,
    include_domains: Vec<String>,
    exclude_domains: Vec<String>,
    require_domain_match: bool,
}

impl StoredSearch {
    /// Takes the limits of a search; its texts and sizes are those of each step.
    pub fn of(request: &SearchRequest) -> Self {
        let sites = |sites: &[Site]| sites.iter().map(Site::to_string).collect();
        Self {
            indexes: request.indexes.iter().map(|index| index.as_str().to_owned()).collect(),
            workspace_id: request.workspace_id.map(Uuid::from),
            language: request.language.clone(),
            country: request.country.clone(),
            exact_match: request.exact_match,
            labels: request.labels.clone(),
            published_after: request.published_after.map(Timestamp::as_millis),
            published_before: request.published_before.map(Timestamp::as_millis),
            include_domains: sites(&request.source_policy.include_domains),
            exclude_domains: sites(&request.source_policy.exclude_domains),
            require_domain_match: request.source_policy.require_domain_match,
        }
    }

    /// Returns the size of the sites in bytes.
    pub fn site_bytes(&self) -> usize {
        self.include_domains.iter().chain(&self.exclude_domains).map(String::len).sum()
    }

    /// Returns a search within the limits.
    pub fn request(
        &self,
        depth: Depth,
        query: String,
        search_queries: Vec<String>,
        session_id: SessionId,
        deadline: Deadline,
    ) -> SearchRequest {
        // They were valid when the run was created.
        let sites = |texts: &[String]| texts.iter().filter_map(|text| Site::parse(text).ok()).collect();
        let indexes: Vec<IndexName> = self.indexes.iter().filter_map(|name| name.parse().ok()).collect();
        SearchRequest {
            original: None,
            query,
            search_queries,
            max_results: match depth {
                Depth::Quick => 10,
                Depth::Standard => 12,
                Depth::Deep => 15,
            },
            indexes,
            workspace_id: self.workspace_id.map(OrganizationId),
            language: self.language.clone(),
            country: self.country.clone(),
            exact_match: self.exact_match,
            labels: self.labels.clone(),
            session_id,
            published_after: self.published_after.map(Timestamp::from_millis),
            published_before: self.published_before.map(Timestamp::from_millis),
            source_policy: SourcePolicy {
                include_domains: sites(&self.include_domains),
                exclude_domains: sites(&self.exclude_domains),
                require_domain_match: self.require_domain_match,
            },
            detail: Detail::Passages,
            passages_per_hit: PASSAGES_PER_HIT,
            deadline,
        }
    }
}
