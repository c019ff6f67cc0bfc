//! Fusion of lexical and semantic evidence.
//!
//! A semantic score is worth as much as its model is good, and nobody says how good it is on a collection. The words tell, in both
//! directions:
//!
//! - A good model ranks the best lexical results high too, a model without meaning ranks them like any other document. This agreement
//!   is measured as in Fisher's combined probability test ("Statistical Methods for Research Workers", 1925): the mean of `-ln p`
//!   over the best lexical results, where `p` is the share of the collection that the model ranks at least as high.
//! - The documents that a good model finds nearest contain words of the query, those of a model without meaning contain as many as any
//!   other document. Their lexical scores are compared with those of the best lexical results. Unlike places, scores differ beyond
//!   the lists, so this tells good models from mediocre ones.
//!
//! Beside this weight of the whole model, a document whose cosine stands out of all others counts by itself ([`Tail`]): it may have
//! none of the words.
//!
//! Measured on six collections with vectors of all-MiniLM-L6-v2, with the same vectors behind noise or cut to 64 and 16 components,
//! and with random ones. ADR 0014 has the figures.

mod outliers;

pub use outliers::Tail;

/// Name of the fusion in the version of the ranker; changes with every change of an order.
pub const FUSION_VERSION: &str = "fusion_v6";

/// Weight of a document that stands out of all others by its cosine, relative to the best lexical score, beside that of the model.
pub const OUTLIER_WEIGHT: f64 = 1.0;

/// Lexical results that are compared.
const COMPARED: usize = 10;
/// Mean of `-ln p` by chance in a list of some documents. It would be 1 if the places behind the list were known.
const CHANCE: f64 = 0.8;
/// Agreement, from 0 by chance to 1 if all compared results are the nearest document, up to which the model has no weight.
const LEAST: f64 = 0.13;
/// Agreement from which it gives its full weight. No model reaches 1: the nearest document is one.
const MOST: f64 = 0.8;
/// Weight of the nearest document by agreement alone, relative to the best lexical score.
const AGREEMENT_WEIGHT: f64 = 0.25;
/// Number and agreement of comparisons that are added to the real ones, so that few results do not decide alone.
const PRIOR: (f64, f64) = (3.0, 0.35);
/// Lexical scores of the nearest documents, relative to the best lexical results, that models without meaning reach.
const UNRELATED: f64 = 0.24;
/// Weight of the nearest document if the nearest documents are as good by words as the best lexical results.
const WORDS_WEIGHT: f64 = 0.6;
/// Number of nearest documents that are added to the real ones, and their relative lexical score.
const WORDS_PRIOR: (f64, f64) = (3.0, 0.45);

/// Agreement of a model with the words in one list.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// Sum over the compared results, from 0 by chance to their number.
    measured: f64,
    /// Number of compared results, as far as they are informative.
    count: f64,
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
        Self { measured: informative * (sum - count * chance) / range, count: informative * count }
    }
}

/// Words in the documents that are nearest to the query.
#[derive(Clone, Copy, Debug)]
pub struct NearestWords {
    /// Sum of their lexical scores, relative to the mean of the best lexical results.
    measured: f64,
    /// Number of documents, as far as they are informative.
    count: f64,
}

impl NearestWords {
    /// Compares the lexical scores of the nearest documents of all lists, nearest first, with those of the lexical results, best
    /// first. `documents` is the number of documents that could be listed.
    pub fn of(nearest: impl Iterator<Item = f64>, results: impl Iterator<Item = f64>, documents: u64) -> Self {
        let best: Vec<f64> = results.take(COMPARED).collect();
        let (count, best) = (best.len() as f64, best.iter().sum::<f64>());
        if best <= 0.0 {
            return Self { measured: 0.0, count: 0.0 };
        }
        let found: f64 = nearest.take(count as usize).sum();
        let count = informative(count, documents as f64) * count;
        Self { measured: count * (found / best).min(1.0), count }
    }

    /// Returns the relative score, from 0 of a model without meaning to 1.
    fn relative(self) -> f64 {
        let mean = (self.measured + WORDS_PRIOR.0 * WORDS_PRIOR.1) / (self.count + WORDS_PRIOR.0);
        ((mean - UNRELATED) / (1.0 - UNRELATED)).clamp(0.0, 1.0)
    }
}

/// Returns the part of a comparison of `count` documents that tells something: the mean over most of the documents is near that over all
/// of them, whatever the model (the correction for samples of finite populations).
fn informative(count: f64, documents: f64) -> f64 {
    1.0 - (count / documents.max(1.0)).min(1.0)
}

/// Returns the weight of the nearest document of all lists, relative to the best lexical score, from 0 to 0.85. All lists are of one
/// model and one query, so what one of them tells about the model holds for the others.
pub fn weight(comparisons: &[Comparison], words: NearestWords) -> f64 {
    let sum = |part: fn(&Comparison) -> f64| comparisons.iter().map(part).sum::<f64>();
    let measured = sum(|comparison| comparison.measured) + PRIOR.0 * PRIOR.1;
    let agreement = measured / (sum(|comparison| comparison.count) + PRIOR.0);
    let by_agreement = AGREEMENT_WEIGHT * ((agreement - LEAST) / (MOST - LEAST)).clamp(0.0, 1.0);
    by_agreement + WORDS_WEIGHT * words.relative().powi(2)
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

    /// Lexical score of the nearest documents of a model without meaning, if that of the best results is 1.
    const CHANCE_SCORE: f64 = 0.15;

    /// Words of ten nearest documents with the same lexical score, and of as many results with the score 1 as there are places.
    fn words(score: f64, results: usize, documents: u64) -> NearestWords {
        NearestWords::of([score; 10].into_iter(), std::iter::repeat_n(1.0, results), documents)
    }

    fn weight_of(places: &[Option<usize>], listed: usize, documents: u64, score: f64) -> f64 {
        let comparison = Comparison::of(places.iter().copied(), listed, documents);
        weight(&[comparison], words(score, places.len(), documents))
    }

    #[test]
    fn models_weigh_as_much_as_they_agree_with_the_words() {
        let good: Vec<_> = (0..10).map(|place| Some(place * 2)).collect();
        let mediocre: Vec<_> = (0..10).map(|place| (place % 3 == 0).then_some(place * 4)).collect();
        let random = [None; 10];
        let models = [(&good[..], 0.8), (&mediocre, 0.5), (&random, CHANCE_SCORE)];
        let weights = models.map(|(places, score)| weight_of(places, 50, 1_400, score));
        assert!(weights[0] > 0.35 && (0.05..0.2).contains(&weights[1]) && weights[2] < 0.01, "{weights:?}");
    }

    #[test]
    fn words_in_the_nearest_documents_raise_the_weight() {
        let places: Vec<_> = (0..10).map(|place| Some(place * 2)).collect();
        let weights = [0.0, CHANCE_SCORE, 0.4, 0.6, 0.8, 1.0].map(|score| weight_of(&places, 50, 1_400, score));
        assert_eq!(weights[0], weights[1]);
        assert!(weights[1..].is_sorted_by(|one, other| one < other), "{weights:?}");
        assert_eq!(weight_of(&places, 50, 1_400, 7.0), weights[5], "better than the best results is as good");
    }

    #[test]
    fn lists_of_chance_have_no_weight_in_collections_of_any_size() {
        for documents in [60_u64, 1_000, 100_000] {
            // Each place is as probable as any other.
            let step = documents / 10;
            let places: Vec<_> =
                (0..10).map(|i| i * step + step / 2).map(|at| (at < 50).then_some(at as usize)).collect();
            assert!(weight_of(&places, 50, documents, CHANCE_SCORE) < 0.05, "{documents}");
        }
    }

    #[test]
    fn small_populations_are_not_mistaken_for_agreement() {
        // Ten of the places by chance, spread evenly over all documents.
        let spread = |documents: usize| (0..10).map(move |i| Some((i * documents + documents / 2) / 10));
        for documents in [20, 30, 60, 99] {
            let comparison = Comparison::of(spread(documents), documents, documents as u64);
            // Half of the documents match a word.
            let weight = weight(&[comparison], words(0.4, 10, documents as u64));
            assert!(weight < 0.05, "{documents}: {weight}");
        }
        let all: Vec<_> = (0..10).map(Some).collect();
        let none = weight(&[Comparison::of(std::iter::empty(), 10, 10)], words(1.0, 0, 10));
        assert!((weight_of(&all, 10, 10, 1.0) - none).abs() < 1e-9, "the words match everything: nothing is known");
        let good = weight_of(&all[..2], 10, 10, 1.0);
        assert!(good > none + 0.05, "{good} {none}");
        // The second of three documents is about what chance gives.
        assert!((0.05..none).contains(&weight_of(&[Some(1)], 3, 3, 0.0)));
        let [one, others_lack_vectors] = [&[Some(0)][..], &[None, Some(0), None]]
            .map(|places| weight(&[Comparison::of(places.iter().copied(), 10, 10)], words(0.5, 3, 10)));
        assert_eq!(one, others_lack_vectors);
    }

    #[test]
    fn a_list_without_matches_has_the_weight_of_the_other() {
        let random = Comparison::of([None; 10].into_iter(), 50, 5_000);
        let unknown = Comparison::of(std::iter::empty(), 3, 3);
        assert!(weight(&[unknown], words(0.0, 0, 3)) > 0.1);
        assert!(weight(&[random, unknown], words(CHANCE_SCORE, 10, 5_003)) < 0.01);
    }

    #[test]
    fn few_results_do_not_decide_alone() {
        let one = |place, score| weight_of(&[place], 50, 1_000, score);
        let (none, against, pro) = (weight_of(&[], 50, 1_000, 0.0), one(None, 0.0), one(Some(0), 1.0));
        assert!(0.02 < against && against < none && none < pro && pro < 0.4, "{against} {none} {pro}");
    }

    #[test]
    fn weights_are_finite_for_any_numbers() {
        let most = AGREEMENT_WEIGHT + WORDS_WEIGHT;
        for (listed, documents) in [(0, 0), (1, 1), (50, 2), (usize::MAX, u64::MAX), (0, 3)] {
            for places in [vec![], vec![Some(0)], vec![Some(usize::MAX - 1), None]] {
                for score in [0.0, 1.0, f64::MAX] {
                    let weight = weight_of(&places, listed, documents, score);
                    assert!((0.0..=most).contains(&weight), "{weight} {listed} {documents}");
                }
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
