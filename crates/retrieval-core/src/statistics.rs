//! What ranking needs to know of the whole collection.

use std::collections::BTreeMap;

/// Counts over one collection: the shared web corpus, or one organization's documents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CollectionStatistics {
    /// Documents in the collection.
    pub documents: u64,
    /// Mean number of words of a document's body: tokens that take a position
    /// ([`TokenKind::is_positional`](crate::analysis::TokenKind::is_positional)).
    pub average_length: f64,
    /// How many documents hold each analysed term of the query in any field. A term that is missing here
    /// is held by none.
    pub document_frequency: BTreeMap<String, u64>,
}
