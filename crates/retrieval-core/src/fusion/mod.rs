//! Fusion of lexical and semantic evidence.
//!
//! A semantic score is worth as much as its model is good, and nobody says how good it is on a collection. The words tell: a good model
//! ranks the best lexical results high too, a model without meaning ranks them like any other document. This agreement is measured as
//! in Fisher's combined probability test ("Statistical Methods for Research Workers", 1925): the mean of `-ln p` over the best lexical
//! results, where `p` is the share of the collection that the model ranks at least as high.
//!
//! Three parts of the evidence differ in the trust that they need:
//!
//! - Documents that the words found too are ordered by both as soon as the model is better than chance.
//! - The nearest documents, whatever their words, count by the agreement.
//! - A document whose cosine stands out of all others counts by itself ([`Tail`]).
//!
//! Vectors that repeat the words agree with them as well as those of a good model. A [`Calibration`] of the model in the language of the
//! documents tells them apart: it lowers all three parts for such vectors, removes the third in a language that the model does not know,
//! and raises the second for a model that knows the meaning of texts.
//!
//! Measured on six collections with vectors of all-MiniLM-L6-v2, with the same vectors behind noise or cut to 64 and 16 components,
//! with several that repeat the words, and with random ones. ADR 0014 has the figures.

mod calibration;
mod meaning;
mod outliers;

pub use calibration::{CALIBRATION_VERSION, Calibration, CalibrationVector, Trust};
pub use meaning::{Meaning, common_language};
pub use outliers::Tail;

/// Name of the fusion in the version of the ranker; changes with every change of an order.
pub const FUSION_VERSION: &str = "fusion_v9";

/// Weight of a document that stands out of all others by its cosine, relative to the best lexical score. It is then before all
/// documents that are found by words alone.
const OUTLIER_WEIGHT: f64 = 1.5;

/// Lexical results that are compared.
pub const COMPARED: usize = 10;
/// Part of the weight beside words that a model without proof lacks if the lists have no more documents than are compared.
const LESS_OF_FEW: f64 = 0.5;
/// Mean of `-ln p` by chance in a list of some documents. It would be 1 if the places behind the list were known.
const CHANCE: f64 = 0.8;
/// Agreement, from 0 by chance to 1 if all compared results are the nearest document, up to which nearness alone has no weight.
const LEAST: f64 = 0.1;
/// Agreement up to which documents with the words are not ordered by meaning, and from which they are.
const LEAST_WITH_WORDS: f64 = 0.05;
const MOST_WITH_WORDS: f64 = 0.2;
/// Number and agreement of comparisons that are added to the real ones, so that few results do not decide alone.
const PRIOR: (f64, f64) = (3.0, 0.35);

/// Agreement of a model with the words in one list.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// Sum over the compared results, from 0 by chance to their number.
    measured: f64,
    /// Number of compared results, as far as they are informative.
    count: f64,
    /// Number of documents that could be listed.
    documents: f64,
    /// True if the list has all of them.
    is_all: bool,
}

impl Comparison {
    /// Compares the lexical results of a list with the documents that are nearest to the query.
    ///
    /// `places` are those of the lexical results, best first, among the documents nearest to the query, from 0; `None` for a result
    /// that is not among the `listed` nearest. `documents` is the number of documents that could be listed: those that meet the
    /// filters.
    pub fn of(places: impl Iterator<Item = Option<usize>>, listed: usize, documents: u64) -> Self {
        // If all documents are listed, a result that is not has no vectors, and says nothing about the model.
        let is_all = documents <= listed as u64;
        let documents = (documents as f64).max(listed as f64).max(2.0);
        // A result that is not listed is somewhere behind.
        let unlisted = ((listed as f64 + documents) / 2.0 / documents).min(1.0);
        let (mut count, mut sum) = (0.0, 0.0);
        for place in places.take(COMPARED).filter(|place| place.is_some() || !is_all) {
            let share = place.map_or(unlisted, |place| (place as f64 + 1.0) / documents);
            sum -= share.min(1.0).ln();
            count += 1.0;
        }
        // Of all documents: the mean over all places, `ln n - ln(n!) / n`, by Stirling's formula.
        let chance = if is_all { 1.0 - (std::f64::consts::TAU * documents).ln() / (2.0 * documents) } else { CHANCE };
        let range = (documents.ln() - chance).max(f64::EPSILON);
        let informative = informative(count, documents);
        let measured = informative * (sum - count * chance) / range;
        Self { measured, count: informative * count, documents, is_all }
    }
}

/// Returns the part of a comparison of `count` documents that tells something: the mean over most of the documents is near that over all
/// of them, whatever the model (the correction for samples of finite populations).
fn informative(count: f64, documents: f64) -> f64 {
    1.0 - (count / documents.max(1.0)).min(1.0)
}

/// Weights of the nearest document of all lists, relative to the best lexical score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Whatever its words.
    alone: f64,
    /// In proportion to its lexical score.
    with_words: f64,
    /// Of a document that stands out fully.
    outlier: f64,
}

impl Weights {
    /// Computes the weights from the comparisons of all lists. The lists are of one model and one query, so what one of them tells
    /// about the model holds for the others. `trust` is that in the model, [`UNKNOWN`](Trust::UNKNOWN) without its calibration.
    pub fn of(comparisons: &[Comparison], trust: &Trust) -> Self {
        let sum = |part: fn(&Comparison) -> f64| comparisons.iter().map(part).sum::<f64>();
        let measured = sum(|comparison| comparison.measured) + PRIOR.0 * PRIOR.1;
        let agreement = measured / (sum(|comparison| comparison.count) + PRIOR.0);
        let part = |least: f64, most: f64| ((agreement - least) / (most - least)).clamp(0.0, 1.0);
        let Trust { factor, proven, outlier, alone, with_words, most } = *trust;
        let (factor, factor_with_words) = if comparisons.iter().all(|comparison| comparison.is_all) {
            // Few documents are near by chance. But a comparison with few tells little.
            let told = informative(COMPARED as f64, sum(|comparison| comparison.documents));
            (1.0, 1.0 - LESS_OF_FEW * (1.0 - proven) * (1.0 - told))
        } else {
            (factor, factor)
        };
        Self {
            alone: factor * alone * part(LEAST, most),
            with_words: factor_with_words * with_words * part(LEAST_WITH_WORDS, MOST_WITH_WORDS),
            outlier: outlier * OUTLIER_WEIGHT,
        }
    }

    /// Returns the semantic score of a document, given its [`share`], its lexical score relative to the best one, and how far it stands
    /// out ([`Tail::excess`]).
    pub fn score(&self, share: f64, lexical: f64, excess: f64) -> f64 {
        share * (self.alone + self.with_words * lexical.clamp(0.0, 1.0)) + self.outlier * excess
    }
}

/// Returns the part of the range from `floor` to `best` that a cosine reaches, from 0 to 1.
pub fn share(cosine: f32, floor: f32, best: f32) -> f64 {
    let range = f64::from(best) - f64::from(floor);
    // In a list of equal cosines all are as near as the best.
    if range > 0.0 { ((f64::from(cosine) - f64::from(floor)) / range).clamp(0.0, 1.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Language;

    /// Weights of the places of ten results.
    fn weights(places: &[Option<usize>], listed: usize, documents: u64) -> Weights {
        Weights::of(&[Comparison::of(places.iter().copied(), listed, documents)], &Trust::UNKNOWN)
    }

    fn calibration(meaning: &[(Language, f64)], repetition: f64) -> Calibration {
        Calibration { meaning: Meaning::of(meaning.iter().copied()).expect("a language"), repetition }
    }

    #[test]
    fn models_weigh_as_much_as_they_agree_with_the_words() {
        let good: Vec<_> = (0..10).map(|place| Some(place * 2)).collect();
        let mediocre: Vec<_> = (0..10).map(|place| (place % 3 == 0).then_some(place * 4)).collect();
        let [good, mediocre, random] = [&good[..], &mediocre, &[None; 10]].map(|places| weights(places, 50, 1_400));
        assert!(
            good.alone > 0.15 && (0.03..0.1).contains(&mediocre.alone) && random.alone == 0.0,
            "{good:?} {mediocre:?}"
        );
        let full = Trust::UNKNOWN.with_words;
        assert!(good.with_words == full && mediocre.with_words == full);
        assert!(random.with_words < 0.1, "{random:?}");
    }

    #[test]
    fn nearness_counts_more_with_words() {
        let weights = Weights { alone: 0.2, with_words: 0.25, outlier: 1.5 };
        let scores = [0.0, 0.5, 1.0, 7.0].map(|lexical| weights.score(0.8, lexical, 0.0));
        assert_eq!((scores[0], scores[3]), (0.8 * 0.2, scores[2]));
        assert!(scores[..3].is_sorted_by(|one, other| one < other), "{scores:?}");
        assert_eq!((weights.score(0.0, 1.0, 0.0), weights.score(0.0, 1.0, 0.5)), (0.0, 0.75));
    }

    #[test]
    fn lists_of_chance_have_no_weight_in_collections_of_any_size() {
        for documents in [60_u64, 1_000, 100_000] {
            // Each place is as probable as any other.
            let step = documents / 10;
            let places: Vec<_> =
                (0..10).map(|i| i * step + step / 2).map(|at| (at < 50).then_some(at as usize)).collect();
            let weights = weights(&places, 50, documents);
            assert!(weights.alone < 0.03 && weights.with_words < 0.15, "{documents}: {weights:?}");
        }
    }

    #[test]
    fn small_populations_are_not_mistaken_for_agreement() {
        // Ten of the places by chance, spread evenly over all documents.
        let spread = |documents: usize| (0..10).map(move |i| Some((i * documents + documents / 2) / 10));
        for documents in [20, 30, 60, 99] {
            let weights =
                Weights::of(&[Comparison::of(spread(documents), documents, documents as u64)], &Trust::UNKNOWN);
            assert!(weights.alone < 0.03, "{documents}: {weights:?}");
        }
        let all: Vec<_> = (0..10).map(Some).collect();
        let none = weights(&[], 10, 10);
        let agreeing = weights(&all, 10, 10);
        assert!((agreeing.alone - none.alone).abs() < 1e-9, "the words match everything: nothing is known");
        assert!(weights(&all[..2], 10, 10).alone > none.alone + 0.05);
        // The second of three documents is about what chance gives.
        assert!((0.02..none.alone).contains(&weights(&[Some(1)], 3, 3).alone));
        let [one, others_lack_vectors] = [&[Some(0)][..], &[None, Some(0), None]].map(|places| weights(places, 10, 10));
        assert_eq!(one, others_lack_vectors);
    }

    #[test]
    fn a_list_without_matches_has_the_weight_of_the_other() {
        let random = Comparison::of([None; 10].into_iter(), 50, 5_000);
        let unknown = Comparison::of(std::iter::empty(), 3, 3);
        assert!(Weights::of(&[unknown], &Trust::UNKNOWN).alone > 0.05);
        assert_eq!(Weights::of(&[random, unknown], &Trust::UNKNOWN), Weights::of(&[random], &Trust::UNKNOWN));
    }

    #[test]
    fn models_weigh_as_much_as_their_calibration_allows() {
        let places: Vec<_> = (0..10).map(|place| (place % 3 == 0).then_some(place * 4)).collect();
        let compared = |listed, documents| Comparison::of(places.iter().copied(), listed, documents);
        let weights = |comparison, calibration: Calibration| Weights::of(&[comparison], &calibration.trust(None));
        let (trusted, repeating) =
            (calibration(&[(Language::English, 8.0)], 4.0), calibration(&[(Language::English, 0.2)], 8.0));
        let unknown = Weights::of(&[compared(50, 1_400)], &Trust::UNKNOWN);
        let trusting = weights(compared(50, 1_400), trusted);
        assert!(trusting.alone > 2.0 * unknown.alone && trusting.with_words > unknown.with_words, "{trusting:?}");
        let wary = weights(compared(50, 1_400), repeating);
        let scores = [unknown, wary].map(|weights| weights.score(0.8, 0.5, 0.3));
        assert!((scores[1] - 0.25 * scores[0]).abs() < 1e-9, "{scores:?}");
        let (wary, unknown) = (weights(compared(40, 40), repeating), Weights::of(&[compared(40, 40)], &Trust::UNKNOWN));
        assert_eq!(wary, Weights { outlier: 0.25 * OUTLIER_WEIGHT, ..unknown }, "all are listed");
        let apart = weights(Comparison::of([None; 10].into_iter(), 50, 1_400), trusted);
        assert_eq!(apart.alone, 0.0, "no trust is enough on documents that the model cannot tell apart");
    }

    #[test]
    fn a_model_is_trusted_in_the_languages_that_it_knows() {
        // Twenty texts of a language that the model does not know are near each other, among a thousand.
        let cosines = |count: usize, of: f64, mean: f64, deviation: f64| {
            (0..count).map(move |place| (mean + deviation * outliers::expected(place, of)) as f32)
        };
        let listed: Vec<f32> = cosines(20, 20.0, 0.35, 0.04).chain(cosines(80, 980.0, 0.05, 0.06)).collect();
        assert!(listed.is_sorted_by(|one, other| one > other), "{listed:?}");
        let excess = Tail::of(listed.clone(), 1_000).expect("a tail").excess(listed[0], 1.0);
        assert!(excess > 0.45, "{excess}");
        let model = calibration(&[(Language::English, 7.7), (Language::German, 0.6), (Language::French, 0.1)], 5.0);
        // The ten best lexical results are among them.
        let compared = [Comparison::of((0..10).map(|place| Some(2 * place)), 100, 1_000)];
        let weights = |language| Weights::of(&compared, &model.trust(language));
        // The best lexical result has 1 if it is not among the nearest.
        let nearest_without_words = |language| weights(language).score(1.0, 0.0, excess);
        for unknown in [Language::German, Language::Italian] {
            let score = nearest_without_words(Some(unknown));
            assert!(score < 0.1, "{unknown:?}: {score}");
        }
        for known in [Some(Language::English), None] {
            assert_eq!(weights(known), Weights::of(&compared, &Trust::FULL));
            assert!(nearest_without_words(known) > 1.0);
        }
    }

    #[test]
    fn few_documents_prove_little_about_a_model() {
        let with_words = |documents: usize, trust| {
            let compared = Comparison::of((0..documents).map(Some), documents, documents as u64);
            Weights::of(&[compared], &trust).with_words
        };
        let unknown = [5, 10, 20, 50, 99].map(|documents| with_words(documents, Trust::UNKNOWN));
        assert_eq!(unknown[..2], [Trust::UNKNOWN.with_words * (1.0 - LESS_OF_FEW); 2]);
        assert!(unknown[1..].is_sorted_by(|fewer, more| fewer < more), "{unknown:?}");
        assert!(unknown[4] > 0.94 * Trust::UNKNOWN.with_words, "{unknown:?}");
        assert_eq!([5, 10, 99].map(|documents| with_words(documents, Trust::FULL)), [Trust::FULL.with_words; 3]);
    }

    #[test]
    fn few_results_do_not_decide_alone() {
        let one = |place| weights(&[place], 50, 1_000).alone;
        let (none, against, pro) = (weights(&[], 50, 1_000).alone, one(None), one(Some(0)));
        assert!(0.02 < against && against < none && none < pro && pro < 0.2, "{against} {none} {pro}");
    }

    #[test]
    fn scores_are_finite_for_any_numbers() {
        for (listed, documents) in [(0, 0), (1, 1), (50, 2), (usize::MAX, u64::MAX), (0, 3)] {
            for places in [vec![], vec![Some(0)], vec![Some(usize::MAX - 1), None]] {
                let score = weights(&places, listed, documents).score(1.0, f64::MAX, 1.0);
                assert!((0.0..=1.0 + OUTLIER_WEIGHT).contains(&score), "{score} {listed} {documents}");
            }
        }
    }

    #[test]
    fn shares_are_within_the_list() {
        assert_eq!(share(0.5, 0.5, 0.9), 0.0);
        assert_eq!(share(0.9, 0.5, 0.9), 1.0);
        assert_eq!(share(0.1, 0.5, 0.9), 0.0);
        assert_eq!(share(0.7, 0.7, 0.7), 1.0);
        assert!((share(0.7, 0.5, 0.9) - 0.5).abs() < 1e-6);
    }
}
