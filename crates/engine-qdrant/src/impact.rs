//! Impacts of terms: the part of BM25 that depends on the document and the mean length.
//!
//! The mean length changes with every document, and a stored impact does not. So impacts are stored for a reference, and a
//! query scales them to the actual mean. The factor depends on the length of the document: a term has one dimension of the
//! sparse vectors for each class of lengths, and the query weights each by the factor of its class. Factors are exact for
//! terms that occur once.

use engine::tokens;
use retrieval_core::bm25::single as bm25;

/// Mean length that stored impacts are computed for, in occurrences of terms.
const REFERENCE_LENGTH: f32 = 125.0;

/// Classes of lengths: numbers of binary digits. Shorter and longer documents belong to the first and the last one.
const CLASSES: std::ops::RangeInclusive<u32> = 4..=17;

/// Returns the dimension of a stem in documents of this length.
pub fn dimension(stem: &str, length: u64) -> u32 {
    let digits = u64::BITS - length.leading_zeros();
    of_class(stem, digits.clamp(*CLASSES.start(), *CLASSES.end()))
}

/// Returns the stored impact of a stem.
pub fn impact(frequency: u32, length: u64) -> f32 {
    bm25::saturation(frequency as f32, bm25::length_norm(length as f32, REFERENCE_LENGTH))
}

/// Returns the dimensions of a stem in a query, with the factors that scale stored impacts to the mean length.
pub fn dimensions(stem: &str, average_length: f32) -> impl Iterator<Item = (u32, f32)> {
    CLASSES.map(move |class| (of_class(stem, class), factor(class, average_length)))
}

fn of_class(stem: &str, class: u32) -> u32 {
    tokens::number(stem, class)
}

fn factor(class: u32, average_length: f32) -> f32 {
    // The geometric mean of the lengths of the class.
    let length = 2_f32.powf(class as f32 - 0.5);
    let impact = |average| bm25::saturation(1.0, bm25::length_norm(length, average));
    impact(average_length) / impact(REFERENCE_LENGTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_dimensions_include_that_of_every_document() {
        for length in [0, 1, 15, 16, 100, 5_000, 65_535, 65_536, u64::MAX] {
            let stored = dimension("pump", length);
            assert_eq!(dimensions("pump", 100.0).filter(|(dimension, _)| *dimension == stored).count(), 1, "{length}");
        }
        assert_ne!(dimension("pump", 100), dimension("pump", 1_000));
    }

    #[test]
    fn scaled_impacts_are_close_to_those_for_the_mean() {
        for average in [12.0, 60.0, 125.0, 500.0, 4_000.0] {
            for length in [10, 40, 125, 400, 2_000, 20_000] {
                let stored = dimension("pump", length);
                let factor =
                    dimensions("pump", average).find(|(dimension, _)| *dimension == stored).expect("a factor").1;
                for frequency in [1, 2, 4] {
                    let norm = bm25::length_norm(length as f32, average);
                    let scaled = factor * impact(frequency, length) / bm25::saturation(frequency as f32, norm);
                    assert!((0.5..2.0).contains(&scaled), "{scaled} for {frequency} in {length} of {average}");
                }
            }
        }
    }
}
