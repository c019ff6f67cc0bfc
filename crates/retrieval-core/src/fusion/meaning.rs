//! Sensitivity of a model to the meaning of texts, by language.

use crate::analysis::Language;

/// Languages that models are measured in, in the order of the texts.
pub(super) const LANGUAGES: [Language; 14] = [
    Language::English,
    Language::German,
    Language::French,
    Language::Spanish,
    Language::Portuguese,
    Language::Russian,
    Language::Polish,
    Language::Turkish,
    Language::Arabic,
    Language::Hindi,
    Language::Chinese,
    Language::Japanese,
    Language::Korean,
    Language::Vietnamese,
];

/// Sensitivity to paraphrases without common words, as d', in at least one language.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meaning([Option<f64>; LANGUAGES.len()]);

impl Meaning {
    /// Returns the sensitivity in these languages. Languages without texts and values that are no finite numbers are ignored; `None` if
    /// nothing is left.
    pub fn of(values: impl IntoIterator<Item = (Language, f64)>) -> Option<Self> {
        let mut measured = [None; LANGUAGES.len()];
        for (language, value) in values {
            let known = LANGUAGES.iter().zip(&mut measured).find(|(known, _)| **known == language);
            if let Some((_, place)) = known.filter(|_| value.is_finite()) {
                *place = Some(value);
            }
        }
        measured.iter().any(Option::is_some).then_some(Self(measured))
    }

    /// Returns the measured languages.
    pub fn by_language(&self) -> impl Iterator<Item = (Language, f64)> {
        LANGUAGES.iter().zip(&self.0).filter_map(|(language, value)| Some((*language, (*value)?)))
    }

    /// Returns the sensitivity in the language that the model knows best, at least 0.
    pub fn best(&self) -> f64 {
        self.by_language().map(|(_, value)| value).fold(0.0, f64::max)
    }

    /// Returns the sensitivity in a language: the best one if the language is not known, the median if it is not measured.
    pub(super) fn in_language(&self, language: Option<Language>) -> f64 {
        let Some(language) = language else { return self.best() };
        let measured = self.by_language().find(|(known, _)| *known == language);
        measured.map_or_else(|| self.median(), |(_, value)| value)
    }

    fn median(&self) -> f64 {
        let mut values: Vec<f64> = self.by_language().map(|(_, value)| value).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0.0)
    }
}

/// Returns the most common language of documents; `None` if the language of more of them is not known, or if there are none. Of
/// languages that are as common, it is the one that comes first.
pub fn common_language(documents: impl Iterator<Item = Option<Language>>) -> Option<Language> {
    let mut counts: Vec<(Option<Language>, usize)> = Vec::new();
    for language in documents {
        match counts.iter_mut().find(|(known, _)| *known == language) {
            Some((_, count)) => *count += 1,
            None => counts.push((language, 1)),
        }
    }
    let most = counts.into_iter().rev().max_by_key(|(language, count)| (*count, language.is_some()));
    most.and_then(|(language, _)| language)
}

#[cfg(test)]
mod tests {
    use super::Language::{English, French, German, Italian, Japanese};
    use super::*;

    #[test]
    fn meaning_is_that_of_the_language() {
        let meaning = Meaning::of([(English, 7.7), (German, 0.6), (French, 0.2), (Japanese, -0.3)]).expect("languages");
        assert_eq!(meaning.in_language(Some(German)), 0.6);
        assert_eq!(meaning.in_language(Some(Japanese)), -0.3);
        assert_eq!(meaning.in_language(Some(Italian)), 0.2, "the median");
        assert_eq!((meaning.in_language(None), meaning.best()), (7.7, 7.7));
        assert!(meaning.by_language().eq([(English, 7.7), (German, 0.6), (French, 0.2), (Japanese, -0.3)]));
        let one = Meaning::of([(German, 5.0)]).expect("a language");
        assert_eq!((one.in_language(Some(Italian)), one.in_language(Some(English))), (5.0, 5.0));
    }

    #[test]
    fn numbers_from_outside_are_checked() {
        for values in [vec![], vec![(Italian, 7.0)], vec![(English, f64::NAN), (German, f64::INFINITY)]] {
            assert_eq!(Meaning::of(values.clone()), None, "{values:?}");
        }
        let twice = Meaning::of([(English, 7.0), (Italian, 1.0), (English, 6.0)]).expect("a language");
        assert_eq!(twice.by_language().collect::<Vec<_>>(), [(English, 6.0)]);
    }

    #[test]
    fn common_language_is_that_of_most_documents() {
        for (documents, expected) in [
            (vec![], None),
            (vec![None, None], None),
            (vec![Some(English), Some(German), Some(German)], Some(German)),
            (vec![Some(German), Some(English)], Some(German)),
            (vec![None, Some(English)], Some(English)),
            (vec![None, Some(English), None], None),
            (vec![None, Some(English), None, Some(English), Some(German)], Some(English)),
        ] {
            assert_eq!(common_language(documents.iter().copied()), expected, "{documents:?}");
        }
    }
}
