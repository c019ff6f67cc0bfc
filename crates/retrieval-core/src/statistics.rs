//! Collection statistics for ranking.

use std::collections::BTreeMap;

/// Statistics of one collection: the shared web corpus, or one organization's documents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CollectionStatistics {
    /// Number of documents.
    pub documents: u64,
    /// Mean body length in positional tokens ([`TokenKind::is_positional`](crate::analysis::TokenKind::is_positional)); 0 if
    /// unknown.
    pub average_length: f64,
    /// Number of documents that contain each analysed query term in any field. Missing terms occur in none.
    pub document_frequency: BTreeMap<String, u64>,
}

impl CollectionStatistics {
    /// Returns the statistics of two collections as one. They must not share documents. The mean length is that of the
    /// collections whose length is known.
    #[must_use]
    pub fn merged(mut self, other: Self) -> Self {
        let (mut documents, mut words) = (0.0, 0.0);
        for one in [&self, &other] {
            if one.average_length > 0.0 {
                documents += one.documents as f64;
                words += one.documents as f64 * one.average_length;
            }
        }
        self.documents = self.documents.saturating_add(other.documents);
        self.average_length = if documents > 0.0 { words / documents } else { 0.0 };
        for (term, documents) in other.document_frequency {
            let sum = self.document_frequency.entry(term).or_default();
            *sum = sum.saturating_add(documents);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_statistics_are_those_of_all_documents() {
        let of = |documents, average_length, frequencies: &[(&str, u64)]| CollectionStatistics {
            documents,
            average_length,
            document_frequency: frequencies.iter().map(|(term, count)| ((*term).to_owned(), *count)).collect(),
        };
        let (large, small) = (of(90, 100.0, &[("tide", 9), ("moon", 1)]), of(10, 200.0, &[("tide", 4), ("memo", 2)]));
        let both = of(100, 110.0, &[("tide", 13), ("moon", 1), ("memo", 2)]);
        assert_eq!(large.clone().merged(small), both);
        assert_eq!(large.clone().merged(CollectionStatistics::default()), large);
        let unknown = of(1_000_000, 0.0, &[]);
        let known = of(5_000, 1_000.0, &[]);
        for merged in [unknown.clone().merged(known.clone()), known.merged(unknown.clone())] {
            assert_eq!(merged, of(1_005_000, 1_000.0, &[]), "an unknown length is not a length of 0");
        }
        assert_eq!(unknown.clone().merged(unknown), of(2_000_000, 0.0, &[]));
        assert_eq!(CollectionStatistics::default().merged(CollectionStatistics::default()), Default::default());
    }
}
