//! BM25 with the probabilistic idf that is never negative, as in Lucene.
//!
//! Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, 3.4.1; the values of
//! `K1` and `B` are those of most engines. The ranker, which has values of its own, computes in double precision; [`single`] is for engines, which score
//! many documents and store scores.

/// Saturation of term frequency: higher values let further occurrences of a term count for longer.
pub const K1: f64 = 1.2;
/// Normalization of length, from 0 (none) to 1 (proportional to the length).
pub const B: f64 = 0.75;

/// Returns the inverse document frequency of a term that `holding` documents contain and `lacking` documents do not
/// (Robertson and Spärck Jones, 1976, with 1 added inside the logarithm). Not negative for `lacking` of at least -0.5.
pub(crate) fn idf(holding: f64, lacking: f64) -> f64 {
    (1.0 + (lacking + 0.5) / (holding + 0.5)).ln()
}

/// Returns the factor by which a field's length divides its term frequencies; 1 for the average length.
pub(crate) fn length_norm(length: usize, average: f64, b: f64) -> f64 {
    1.0 - b + b * length as f64 / average
}

/// Returns the weight of a frequency that is divided by its [`length_norm`]: 0 to `k1 + 1`.
pub(crate) fn saturation(frequency: f64, k1: f64) -> f64 {
    frequency * (k1 + 1.0) / (frequency + k1)
}

/// The formula in single precision.
pub mod single {
    pub const K1: f32 = super::K1 as f32;
    pub const B: f32 = super::B as f32;

    /// Returns the inverse document frequency of a term that `document_frequency` of `documents` contain. Positive, even if
    /// the counts were taken at different times and contradict each other.
    pub fn idf(document_frequency: u64, documents: u64) -> f32 {
        let lacking = documents.saturating_sub(document_frequency);
        super::idf(document_frequency as f64, lacking as f64) as f32
    }

    /// Returns the part of the denominator that depends on the document alone.
    pub fn length_norm(length: f32, average_length: f32) -> f32 {
        // An empty collection has no average; any positive one gives the same order.
        K1 * (1.0 - B + B * length / average_length.max(1.0))
    }

    /// Returns the share of a term in a document's score, to be multiplied by its idf. Positive for a frequency of at
    /// least 1.
    pub fn saturation(term_frequency: f32, length_norm: f32) -> f32 {
        (K1 + 1.0) * term_frequency / (term_frequency + length_norm)
    }
}

#[cfg(test)]
mod tests {
    use super::single::{K1, idf, length_norm, saturation};

    #[test]
    fn rarer_terms_weigh_more_and_every_term_weighs() {
        assert!(idf(1, 1000) > idf(10, 1000));
        assert!(idf(1000, 1000) > 0.0);
        assert!(idf(2000, 1000) > 0.0);
        assert!(idf(0, 0) > 0.0);
    }

    #[test]
    fn frequency_saturates_and_length_reduces_it() {
        let mean = length_norm(100.0, 100.0);
        assert!((saturation(1.0, mean) - 1.0).abs() < 1e-6);
        assert!(saturation(1000.0, mean) < K1 + 1.0);
        assert!(saturation(2.0, length_norm(400.0, 100.0)) < saturation(2.0, mean));
        assert!(saturation(1.0, length_norm(0.0, 0.0)).is_finite());
    }

    /// Rounding a constant twice must not move it: impacts in stored indexes were computed with `1.2_f32`.
    #[test]
    fn single_precision_constants_are_exact() {
        assert_eq!((K1.to_bits(), super::single::B.to_bits()), (1.2_f32.to_bits(), 0.75_f32.to_bits()));
    }

    #[test]
    fn both_precisions_agree() {
        for (frequency, length) in [(1.0, 50), (3.0, 100), (20.0, 900)] {
            let single = saturation(frequency, length_norm(length as f32, 100.0));
            let double =
                super::saturation(f64::from(frequency) / super::length_norm(length, 100.0, super::B), super::K1);
            assert!((f64::from(single) - double).abs() < 1e-5, "{single} {double}");
        }
    }
}
