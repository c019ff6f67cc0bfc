//! Collection statistics for ranking.

use std::collections::BTreeMap;

/// Statistics of one collection: the shared web corpus, or one organization's documents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CollectionStatistics {
    /// Number of documents.
    pub documents: u64,
    /// Mean body length in positional tokens ([`TokenKind::is_positional`](crate::analysis::TokenKind::is_positional)).
    pub average_length: f64,
    /// Number of documents that contain each analysed query term in any field. Missing terms occur in none.
    pub document_frequency: BTreeMap<String, u64>,
}
