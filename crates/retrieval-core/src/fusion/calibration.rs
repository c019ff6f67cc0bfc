//! Quality of an embedding model, measured once with texts of known meaning.
//!
//! A query tells how far a model agrees with the words, which vectors that only repeat the words do best. Paraphrases without common words
//! tell whether a model knows their meaning. Both are measured by the sensitivity index of signal detection theory, d' (Green and Swets,
//! "Signal Detection Theory and Psychophysics", 1966): the mean cosine of the related texts above that of unrelated ones, in standard
//! deviations of the unrelated ones.

use super::meaning::{LANGUAGES, Meaning};
use crate::analysis::Language;
use crate::embeddings::QuantizedVector;

/// Version of the texts and of what is measured with them; changes with every change of either.
pub const CALIBRATION_VERSION: i32 = 2;

/// A language, a question and a paraphrase per line, divided by tabs. The lines of a language follow each other. A paraphrase has no
/// content word in common with its question, and nothing to do with the other questions of its language.
const PARAPHRASES: &str = include_str!("calibration.tsv");

/// Least sensitivity of a model that reads the texts. The highest one of random vectors in any language was below 0.9.
const READS: f64 = 1.2;
/// Sensitivity to meaning up to which vectors have the least weight, and from which they have their full weight.
const LEAST: f64 = 2.5;
const FULL: f64 = 4.5;
/// Sensitivity to meaning from which a model is fully trusted. all-MiniLM-L6-v2 has 7.7, means of GloVe's word vectors have 1.9.
const TRUSTED: f64 = 6.0;
/// Factor on the weights of vectors that only repeat the words.
const LEAST_FACTOR: f64 = 0.25;
/// Least number of pairs without a rejected text in a language that is measured. All languages have at least 12 pairs.
const LEAST_PAIRS: usize = 8;

/// Sensitivity of a model to relations between texts, as d'.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// To paraphrases without common words.
    pub meaning: Meaning,
    /// To common words, in texts about something else.
    pub repetition: f64,
}

/// Vector of a text that a model is measured with.
#[derive(Clone, Debug, PartialEq)]
pub enum CalibrationVector {
    Known(QuantizedVector),
    /// The model knows nothing of the text, which is near to nothing.
    Unknown,
    /// The model rejected the text, which tells nothing about the relations of texts.
    Rejected,
}

/// A question and its paraphrase.
type Pair = (&'static str, &'static str);

impl Calibration {
    /// Returns the texts to embed, as documents.
    pub fn texts() -> Vec<String> {
        let languages = languages();
        let pairs = languages.iter().flatten().flat_map(|(question, paraphrase)| [*question, *paraphrase]);
        pairs.map(str::to_owned).chain(repetitions(&languages)).collect()
    }

    /// Computes the calibration from the vectors of [`texts`](Self::texts), in their order. Rejected texts are left out; `None` if too
    /// many are rejected in every language.
    pub fn of(vectors: &[CalibrationVector]) -> Option<Self> {
        let languages = languages();
        let mut rest = vectors;
        let mut take = |count: usize| {
            let (taken, left) = rest.split_at(count.min(rest.len()));
            rest = left;
            taken
        };
        let by_language: Vec<(Vec<_>, Vec<_>)> = languages
            .iter()
            .map(|pairs| take(2 * pairs.len()).chunks_exact(2).map(|pair| (&pair[0], &pair[1])).unzip())
            .collect();
        let meaning = by_language.iter().zip(LANGUAGES).filter_map(|((questions, paraphrases), language)| {
            Some((language, sensitivity(questions, paraphrases)?.max(0.0)))
        });
        let meaning = Meaning::of(meaning)?;
        let english = by_language.first().map(|(questions, _)| questions.as_slice()).unwrap_or_default();
        let repeating: Vec<_> = take(english.len()).iter().collect();
        // Without it, a model that does not know the meaning is judged by its agreement with the words.
        let repetition = sensitivity(english, &repeating).unwrap_or(0.0).max(0.0);
        Some(Self { meaning, repetition })
    }

    /// Returns true for a model whose evidence in some language counts more than that of vectors which only repeat the words.
    pub fn knows_meaning(&self) -> bool {
        self.meaning.best() > LEAST
    }

    /// Returns the weights of the model's evidence among documents of a language; `None` if the language is not known.
    pub fn trust(&self, language: Option<Language>) -> Trust {
        if self.meaning.best().max(self.repetition) < READS {
            return Trust::UNKNOWN;
        }
        let meaning = self.meaning.in_language(language);
        let proven = part(meaning, LEAST, FULL);
        let proven_in_best = part(self.meaning.best(), LEAST, FULL);
        let of_best = if proven_in_best > 0.0 { proven / proven_in_best } else { 1.0 };
        let factor = LEAST_FACTOR + (1.0 - LEAST_FACTOR) * proven;
        let trusted = part(meaning, FULL, TRUSTED);
        let between = |unknown: f64, full: f64| unknown + trusted * (full - unknown);
        Trust {
            factor,
            proven,
            outlier: factor * of_best,
            alone: between(Trust::UNKNOWN.alone, Trust::FULL.alone),
            with_words: between(Trust::UNKNOWN.with_words, Trust::FULL.with_words),
            most: between(Trust::UNKNOWN.most, Trust::FULL.most),
        }
    }
}

/// Weights of the evidence of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trust {
    /// Factor on the weights of the nearest document.
    pub factor: f64,
    /// Proof that the model knows the meaning of texts, from 0 to 1.
    pub proven: f64,
    /// Factor on the weight of documents that stand out: a model puts the texts of a language that it does not know near each other, and they
    /// stand out of those that it knows.
    pub outlier: f64,
    /// Full weight of the nearest document, whatever its words, relative to the best lexical score.
    pub alone: f64,
    /// Full weight of the nearest document in proportion to its lexical score, beside the other.
    pub with_words: f64,
    /// Agreement with the words, from 0 to 1, from which it has the first of these weights.
    pub most: f64,
}

impl Trust {
    /// Weights of a model of unknown quality. None reaches an agreement of 1: the nearest document is one.
    pub const UNKNOWN: Self = Self { factor: 1.0, proven: 0.0, outlier: 1.0, alone: 0.3, with_words: 0.25, most: 0.9 };
    /// Weights of a good model.
    pub const FULL: Self = Self { factor: 1.0, proven: 1.0, outlier: 1.0, alone: 0.4, with_words: 0.4, most: 0.25 };
}

fn part(value: f64, least: f64, most: f64) -> f64 {
    ((value - least) / (most - least)).clamp(0.0, 1.0)
}

/// Returns the pairs of each language, English first.
fn languages() -> Vec<Vec<Pair>> {
    let mut languages: Vec<(&str, Vec<Pair>)> = Vec::new();
    for line in PARAPHRASES.lines() {
        let mut fields = line.split('\t');
        let (Some(language), Some(question), Some(paraphrase)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        match languages.last_mut() {
            Some((last, pairs)) if *last == language => pairs.push((question, paraphrase)),
            _ => languages.push((language, vec![(question, paraphrase)])),
        }
    }
    languages.into_iter().map(|(_, pairs)| pairs).collect()
}

/// Returns a text with the words of each English question that is about another one.
fn repetitions(languages: &[Vec<Pair>]) -> Vec<String> {
    let english = languages.first().map(Vec::as_slice).unwrap_or_default();
    let others = english.iter().cycle().skip(1);
    english.iter().zip(others).map(|((question, _), (_, other))| format!("{question} {other}")).collect()
}

/// Returns d' of the texts at equal places among all pairs of texts; 0 if all cosines of the others are equal. Pairs with a rejected text
/// are left out; `None` if fewer than [`LEAST_PAIRS`] at equal places are left.
fn sensitivity(questions: &[&CalibrationVector], texts: &[&CalibrationVector]) -> Option<f64> {
    let (mut related, mut unrelated) = (Vec::new(), Vec::new());
    for (place, question) in questions.iter().enumerate() {
        for (other, text) in texts.iter().enumerate() {
            let Some(cosine) = cosine(question, text) else { continue };
            if place == other { related.push(cosine) } else { unrelated.push(cosine) }
        }
    }
    if related.len() < LEAST_PAIRS {
        return None;
    }
    let (signal, _) = mean_and_deviation(&related);
    let (noise, deviation) = mean_and_deviation(&unrelated);
    // Stored vectors are rounded: a smaller deviation is none.
    Some(if deviation < 1e-4 { 0.0 } else { (signal - noise) / deviation })
}

/// Returns the cosine of two texts; `None` if one is rejected.
fn cosine(one: &CalibrationVector, other: &CalibrationVector) -> Option<f64> {
    match (one, other) {
        (CalibrationVector::Rejected, _) | (_, CalibrationVector::Rejected) => None,
        (CalibrationVector::Unknown, _) | (_, CalibrationVector::Unknown) => Some(0.0),
        (CalibrationVector::Known(one), CalibrationVector::Known(other)) => Some(f64::from(one.cosine(other))),
    }
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (mean, (squares / count).sqrt())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    const DIMENSIONS: usize = 384;

    /// Nearly normal components that depend on a text only.
    fn random(text: &str) -> Vec<f32> {
        let mut state = crate::embeddings::VectorSpace::of(text).0;
        let mut unit = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1_u64 << 24) as f32
        };
        (0..DIMENSIONS).map(|_| (0..4).map(|_| unit()).sum::<f32>() - 2.0).collect()
    }

    fn sum(vectors: impl Iterator<Item = Vec<f32>>) -> Vec<f32> {
        vectors
            .fold(vec![0.0; DIMENSIONS], |sum, vector| sum.iter().zip(vector).map(|(one, other)| one + other).collect())
    }

    fn calibration(vector: impl Fn(&str) -> Vec<f32>) -> Calibration {
        calibration_without(&[], vector)
    }

    fn calibration_without(rejected: &[&str], vector: impl Fn(&str) -> Vec<f32>) -> Calibration {
        let vector = |text: &String| match QuantizedVector::quantize(&vector(text)) {
            _ if rejected.contains(&text.as_str()) => CalibrationVector::Rejected,
            Some(vector) => CalibrationVector::Known(vector),
            None => CalibrationVector::Unknown,
        };
        let vectors: Vec<_> = Calibration::texts().iter().map(vector).collect();
        Calibration::of(&vectors).expect("a language")
    }

    /// Number of the pair that each text belongs to.
    fn meanings() -> HashMap<&'static str, usize> {
        let pairs = languages().into_iter().flatten().enumerate();
        pairs.flat_map(|(number, (question, paraphrase))| [(question, number), (paraphrase, number)]).collect()
    }

    #[test]
    fn texts_are_of_the_languages_that_are_measured() {
        let mut codes: Vec<&str> = PARAPHRASES.lines().filter_map(|line| line.split('\t').next()).collect();
        codes.dedup();
        assert_eq!(codes, LANGUAGES.map(Language::code));
    }

    #[test]
    fn pairs_have_no_common_words() {
        let languages = languages();
        assert!(languages.len() > 10 && languages.iter().all(|pairs| pairs.len() >= 12), "{languages:?}");
        for (question, paraphrase) in languages.iter().flatten() {
            let words = |text: &str| text.to_lowercase().split([' ', ',']).map(str::to_owned).collect::<Vec<_>>();
            // Languages without spaces have no common pair of characters.
            let pairs = |text: &str| {
                let chars: Vec<char> = text.chars().filter(|char| *char > '\u{3000}').collect();
                chars.windows(2).map(|pair| pair.iter().collect::<String>()).collect::<Vec<_>>()
            };
            let all = |text: &str| [words(text), pairs(text)].concat();
            let paraphrase = all(paraphrase);
            let common: Vec<_> = all(question)
                .into_iter()
                .filter(|word| word.chars().count() > 1 && paraphrase.contains(word))
                .collect();
            assert!(common.is_empty(), "{question}: {common:?}");
        }
    }

    #[test]
    fn a_model_of_meaning_is_trusted() {
        let meanings = meanings();
        // Each text is as near to its meaning as to something of its own.
        let model = calibration(|text| {
            let meaning = meanings.get(text).map_or(String::new(), usize::to_string);
            sum([random(&meaning), random(text)].into_iter())
        });
        assert!(model.meaning.best() > TRUSTED, "{model:?}");
        for language in [None, Some(Language::Japanese), Some(Language::Italian)] {
            assert_eq!(model.trust(language), Trust::FULL);
        }
    }

    #[test]
    fn one_language_is_enough() {
        let meanings = meanings();
        let polish = languages().into_iter().find(|pairs| pairs[0].0 == "naprawa samochodu").unwrap_or_default();
        let known: Vec<&str> = polish.iter().flat_map(|(question, paraphrase)| [*question, *paraphrase]).collect();
        let model = calibration(|text| match known.contains(&text) {
            true => sum([random(&meanings[text].to_string()), random(text)].into_iter()),
            false => random(text),
        });
        assert!(model.meaning.best() > TRUSTED, "{model:?}");
        assert_eq!([None, Some(Language::Polish)].map(|language| model.trust(language)), [Trust::FULL; 2]);
        for other in [Language::English, Language::Japanese, Language::Italian] {
            let trust = model.trust(Some(other));
            assert_eq!((trust.factor, trust.outlier), (LEAST_FACTOR, 0.0), "{other:?}");
        }
    }

    #[test]
    fn vectors_that_repeat_the_words_count_least() {
        let model = calibration(|text| sum(text.split(' ').map(random)));
        assert!(model.meaning.best() < 1.0 && model.repetition > 4.0, "{model:?}");
        assert_eq!(model.trust(None), Trust { factor: LEAST_FACTOR, outlier: LEAST_FACTOR, ..Trust::UNKNOWN });
    }

    #[test]
    fn vectors_that_are_not_of_these_texts_are_judged_by_their_agreement() {
        for vector in [random as fn(&str) -> Vec<f32>, |_| vec![0.0; DIMENSIONS], |_| vec![1.0; DIMENSIONS]] {
            let model = calibration(vector);
            assert_eq!(model.trust(None), Trust::UNKNOWN, "{model:?}");
        }
        let one = QuantizedVector::quantize(&[1.0]).map_or(CalibrationVector::Unknown, CalibrationVector::Known);
        let measured = Calibration::of(&vec![one; 10_000]).map(|calibration| calibration.trust(None));
        assert_eq!(measured, Some(Trust::UNKNOWN));
        for vectors in [vec![], vec![CalibrationVector::Unknown; 7], vec![CalibrationVector::Rejected; 384]] {
            assert_eq!(Calibration::of(&vectors), None, "no language has enough texts");
        }
    }

    #[test]
    fn language_with_few_whole_pairs_is_not_counted() {
        let meanings = meanings();
        let polish = languages().into_iter().find(|pairs| pairs[0].0 == "naprawa samochodu").unwrap_or_default();
        let known: Vec<&str> = polish.iter().flat_map(|(question, paraphrase)| [*question, *paraphrase]).collect();
        let paraphrases: Vec<&str> = polish.iter().map(|(_, paraphrase)| *paraphrase).collect();
        let meaning = |rejected: usize| {
            let vector = |text: &str| match known.contains(&text) {
                true => sum([random(&meanings[text].to_string()), random(text)].into_iter()),
                false => random(text),
            };
            calibration_without(&paraphrases[..rejected], vector).meaning.best()
        };
        let most = paraphrases.len() - LEAST_PAIRS;
        assert!(meaning(most) > TRUSTED && meaning(most + 1) < READS, "{} {}", meaning(most), meaning(most + 1));
    }

    #[test]
    fn trust_rises_with_sensitivity() {
        let trust = |meaning| {
            let meaning = Meaning::of([(Language::English, f64::from(meaning))]).expect("a language");
            Calibration { meaning, repetition: 3.0 }.trust(None)
        };
        let all: Vec<Trust> = (0..10).map(trust).collect();
        let trust: Vec<(f64, f64)> = all.iter().map(|trust| (trust.factor, -trust.most)).collect();
        assert!(trust.is_sorted(), "{trust:?}");
        assert_eq!((trust[0], trust[9]), ((LEAST_FACTOR, -0.9), (1.0, -0.25)));
        assert!(all.is_sorted_by_key(|trust| (trust.outlier, trust.proven)), "{all:?}");
        assert_eq!((all[2].outlier, all[5].outlier), (LEAST_FACTOR, 1.0));
    }
}
