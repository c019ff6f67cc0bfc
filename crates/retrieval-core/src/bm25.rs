//! The ranking formula of engines that score for themselves: BM25 with the probabilistic idf that is never
//! negative, as Lucene has it (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
//! Beyond", 2009).

/// How soon further occurrences of a term stop counting.
pub const K1: f32 = 1.2;
/// How much a document longer than the mean is held back.
pub const B: f32 = 0.75;

/// Rarity of a term that `document_frequency` of `documents` hold. Positive, also where counts that were
/// taken at different times contradict each other.
pub fn idf(document_frequency: u64, documents: u64) -> f32 {
    let holding = document_frequency as f64;
    let lacking = documents.saturating_sub(document_frequency) as f64;
    (1.0 + (lacking + 0.5) / (holding + 0.5)).ln() as f32
}

/// The part of the denominator that depends on the document alone.
pub fn length_norm(length: f32, average_length: f32) -> f32 {
    // An empty collection has no mean; any positive one gives the same order.
    K1 * (1.0 - B + B * length / average_length.max(1.0))
}

/// What a term adds to a document's score, to be multiplied with its idf. Positive for a frequency of at
/// least 1.
pub fn saturation(term_frequency: f32, length_norm: f32) -> f32 {
    (K1 + 1.0) * term_frequency / (term_frequency + length_norm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rarer_terms_weigh_more_and_never_nothing() {
        assert!(idf(1, 1000) > idf(10, 1000));
        assert!(idf(1000, 1000) > 0.0);
        assert!(idf(2000, 1000) > 0.0);
        assert!(idf(0, 0) > 0.0);
    }

    #[test]
    fn frequency_saturates_and_length_holds_back() {
        let mean = length_norm(100.0, 100.0);
        assert!((saturation(1.0, mean) - 1.0).abs() < 1e-6);
        assert!(saturation(1000.0, mean) < K1 + 1.0);
        assert!(saturation(2.0, length_norm(400.0, 100.0)) < saturation(2.0, mean));
        assert!(saturation(1.0, length_norm(0.0, 0.0)).is_finite());
    }
}
