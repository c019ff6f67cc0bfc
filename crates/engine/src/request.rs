use retrieval_core::statistics::CollectionStatistics;
use uuid::Uuid;

/// The two indexes of the service.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum IndexName {
    Web,
    Workspace,
}

impl IndexName {
    pub const ALL: [IndexName; 2] = [IndexName::Web, IndexName::Workspace];

    pub fn as_str(self) -> &'static str {
        match self {
            IndexName::Web => "web",
            IndexName::Workspace => "workspace",
        }
    }
}

/// Where to search. A workspace search cannot be written without naming the organization.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Scope {
    Web,
    Workspace { organization_id: Uuid },
}

impl Scope {
    pub fn index(self) -> IndexName {
        match self {
            Scope::Web => IndexName::Web,
            Scope::Workspace { .. } => IndexName::Workspace,
        }
    }
}

/// What must hold for every hit. An empty filter holds for all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filters {
    /// Two-letter code, lowercase.
    pub language: Option<String>,
    /// Two-letter code, lowercase.
    pub country: Option<String>,
    /// Milliseconds since the Unix epoch; only documents with a known time strictly after it.
    pub published_after: Option<i64>,
    /// Normalized domains (see `retrieval_core::domain`); a host matches itself and its subdomains.
    pub include_domains: Vec<String>,
    /// As above; wins over `include_domains`.
    pub exclude_domains: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct FirstStageRequest {
    pub scope: Scope,
    /// The query and its rewrites, each searched with all words optional. A document's score is its best share of what
    /// one of them asks for.
    pub texts: Vec<String>,
    /// Only documents that hold the first text word for word.
    pub exact_phrase: bool,
    /// The text that hits will be reranked by, where it is none of `texts`. It is not searched for, but the
    /// statistics cover its terms too.
    pub ranked_by: Option<String>,
    pub filters: Filters,
    /// At least 1.
    pub limit: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    pub doc_id: Uuid,
    /// Comparable only inside one answer; higher is better.
    pub score: f32,
}

#[derive(Clone, Debug, Default)]
pub struct FirstStageAnswer {
    pub hits: Vec<Hit>,
    /// Documents that match, exact or (for engines that only estimate) a close estimate.
    pub total: u64,
    /// Of the searched collection (one organization's documents for a workspace), for every variant of every
    /// term that the analysis of `texts` and `ranked_by` yields under the collection's languages. Filters do
    /// not change it.
    pub statistics: CollectionStatistics,
}
