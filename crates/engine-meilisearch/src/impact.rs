//! Quantized impact of a term on a document.
//!
//! Meilisearch has no term frequencies, but orders the matches of a word by the attribute that contains it. So each term of
//! a document is put into the attribute of its impact, the part of BM25 that depends only on the document. The first matches
//! of a word are then those of highest impact: an impact-ordered index (Anh and Moffat, "Pruned Query Evaluation Using
//! Pre-Computed Impacts", SIGIR 2006).

use retrieval_core::bm25::single::{self as bm25, K1};

/// Number of impact levels. Level 0 has the highest impact.
pub const LEVELS: usize = 16;

/// Upper bound of BM25's saturation.
const MAX_IMPACT: f32 = K1 + 1.0;

/// Ratio between the upper bounds of successive levels. 16 levels reach down to a twentieth of the maximum; lower impacts
/// are in the last level.
const STEP: f32 = 0.83;

/// Mean document length in words that impacts are computed for. The actual mean changes with every document and cannot be
/// stored in the index; [`frequency`] reverts this normalization.
const REFERENCE_LENGTH: f32 = 250.0;

/// Returns the level of a term that occurs `frequency` times in a document of `length` words.
pub fn level(frequency: u32, length: u32) -> usize {
    let impact = bm25::saturation(frequency as f32, bm25::length_norm(length as f32, REFERENCE_LENGTH));
    let steps = (impact / MAX_IMPACT).ln() / STEP.ln();
    (steps.max(0.0) as usize).min(LEVELS - 1)
}

/// Returns the approximate frequency of a term with this level in a document of `length` words.
pub fn frequency(level: usize, length: u32) -> f32 {
    let impact = MAX_IMPACT * STEP.powf(level as f32 + 0.5);
    let norm = bm25::length_norm(length as f32, REFERENCE_LENGTH);
    (impact * norm / (MAX_IMPACT - impact)).round().max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impact_increases_with_frequency_and_decreases_with_length() {
        assert!(level(3, 250) < level(1, 250));
        assert!(level(1, 50) < level(1, 5_000));
        assert_eq!(level(1, u32::MAX), LEVELS - 1);
        assert_eq!(level(u32::MAX, 1), 0);
        assert_eq!(level(0, 0), LEVELS - 1);
    }

    #[test]
    fn quantization_error_is_bounded() {
        for average in [30.0, 250.0, 2_000.0] {
            for length in [20, 100, 250, 1_000, 5_000] {
                let norm = bm25::length_norm(length as f32, average);
                for times in [1, 2, 3, 5, 10, 30] {
                    let (true_impact, back) = (
                        bm25::saturation(times as f32, norm),
                        bm25::saturation(frequency(level(times, length), length), norm),
                    );
                    let off = (back / true_impact - 1.0).abs();
                    assert!(off < 0.25, "{times} in {length} is off by {off}");
                }
            }
        }
        assert_eq!(frequency(level(1, 250), 250), 1.0);
    }
}
