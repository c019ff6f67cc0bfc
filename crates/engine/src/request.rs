use std::ops::AddAssign;

use model::{Collection, DocId, Timestamp};
use retrieval_core::statistics::CollectionStatistics;

/// Conditions that every hit must meet. An empty filter matches all documents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filters {
    /// Two-letter ISO 639-1 code, lowercase.
    pub language: Option<String>,
    /// Two-letter ISO 3166-1 code, lowercase.
    pub country: Option<String>,
    /// Exclusive lower bound. Excludes documents without a publication time.
    pub published_after: Option<Timestamp>,
    /// Exclusive upper bound. Excludes documents without a publication time.
    pub published_before: Option<Timestamp>,
    /// Labels of which a document must have one, folded like those of documents. Empty: any document.
    pub labels: Vec<String>,
    /// Normalized sites: a domain, which matches its subdomains too, or a domain with a path (see
    /// `retrieval_core::site` and [`Site`](crate::indexing::Site)).
    pub include_domains: Vec<String>,
    /// Normalized sites to exclude. Takes precedence over `include_domains`.
    pub exclude_domains: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct FirstStageRequest {
    pub collection: Collection,
    /// The query and its rewrites, each searched with all words optional. The score of a document is its highest share of
    /// the maximum score of one text.
    pub texts: Vec<String>,
    /// Limits hits to documents that contain one of the texts as a phrase.
    pub exact_phrase: bool,
    /// Text that hits will be reranked by, if it is not in `texts`. It is not searched, but the statistics cover its
    /// terms.
    pub rerank_text: Option<String>,
    pub filters: Filters,
    /// Maximum number of hits, at least 1.
    pub limit: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    pub doc_id: DocId,
    /// Higher is better. Comparable only within one response.
    pub score: f32,
}

impl Hit {
    /// Returns the best `limit` documents, best first. Ties are broken by document id.
    pub fn best(scores: impl IntoIterator<Item = (DocId, f32)>, limit: usize) -> Vec<Self> {
        let mut hits: Vec<Self> = scores.into_iter().map(|(doc_id, score)| Self { doc_id, score }).collect();
        hits.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.doc_id.cmp(&b.doc_id)));
        hits.truncate(limit);
        hits
    }
}

/// Numbers of documents that meet a request but for unknown values, by the filter that needs the value. A document that
/// lacks several counts for each. Exact or a close estimate, depending on the engine; 0 only if there are none.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct UnknownValues {
    pub language: u64,
    pub country: u64,
    pub published_at: u64,
}

impl UnknownValues {
    /// Returns the numbers without those of other documents; 0 if these are more.
    pub fn without(self, other: Self) -> Self {
        Self {
            language: self.language.saturating_sub(other.language),
            country: self.country.saturating_sub(other.country),
            published_at: self.published_at.saturating_sub(other.published_at),
        }
    }
}

impl AddAssign for UnknownValues {
    fn add_assign(&mut self, other: Self) {
        self.language += other.language;
        self.country += other.country;
        self.published_at += other.published_at;
    }
}

/// State of the index of a collection. Searches of one process with equal snapshots saw the same documents.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Snapshot(pub u64);

#[derive(Clone, Debug, Default)]
pub struct FirstStageResponse {
    pub hits: Vec<Hit>,
    /// State of the index that was searched. `None` if other processes may change it unnoticed.
    pub snapshot: Option<Snapshot>,
    /// Number of matching documents, exact or a close estimate, depending on the engine.
    pub total: u64,
    /// Matching documents that the filters removed only for lack of a value.
    pub unknown_values: UnknownValues,
    /// Statistics of the searched collection (for a workspace, of one organization), regardless of filters.
    ///
    /// Covers every variant of every term in `texts` and `rerank_text` under the languages of the collection.
    pub statistics: CollectionStatistics,
}
