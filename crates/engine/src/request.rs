use model::{Collection, DocId, Timestamp};
use retrieval_core::statistics::CollectionStatistics;

/// What must hold for every hit. An empty filter holds for all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filters {
    /// Two-letter code, lowercase.
    pub language: Option<String>,
    /// Two-letter code, lowercase.
    pub country: Option<String>,
    /// Only documents with a known time strictly after it.
    pub published_after: Option<Timestamp>,
    /// Normalized domains (see `retrieval_core::domain`); a host matches itself and its subdomains.
    pub include_domains: Vec<String>,
    /// As above; wins over `include_domains`.
    pub exclude_domains: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct FirstStageRequest {
    /// Where to search.
    pub collection: Collection,
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
    pub doc_id: DocId,
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
