use retrieval_core::shape::SearchHit;
use time::OffsetDateTime;
use uuid::Uuid;

/// A validated search. Shaping by verbosity and budget happens where the answer is serialized.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    pub query: String,
    pub search_queries: Vec<String>,
    pub max_results: usize,
    pub web: bool,
    pub workspace: bool,
    /// As sent; checked against the viewer's organization when `workspace` is asked.
    pub workspace_id: Option<Uuid>,
    pub language: Option<String>,
    pub country: Option<String>,
    pub exact_match: bool,
    pub published_after: Option<OffsetDateTime>,
    pub source_policy: SourcePolicy,
    /// How much of each hit to prepare: `None` for ids alone.
    pub detail: Detail,
}

#[derive(Clone, Debug, Default)]
pub struct SourcePolicy {
    /// As sent; paths in errors are `source_policy.include_domains[i]`.
    pub include_domains: Vec<String>,
    pub exclude_domains: Vec<String>,
    pub require_domain_match: bool,
}

/// What the answer will show, so that nothing else is read or computed.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Detail {
    Ids,
    Snippets,
    Passages,
}

/// A complete answer, best first, with everything that the largest preset may show.
#[derive(Clone, Debug)]
pub struct SearchOutcome {
    pub search_id: Uuid,
    pub hits: Vec<SearchHit>,
    pub ranker_version: String,
    /// Present when the workspace index was asked.
    pub workspace: Option<WorkspaceCounts>,
    pub rerank_unavailable: bool,
    /// Results that `source_policy` removed.
    pub filtered_results: usize,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct WorkspaceCounts {
    /// Matching workspace documents.
    pub total: u64,
    /// Those among the hits.
    pub selected: u64,
}
