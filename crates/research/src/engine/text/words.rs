//! Words of a question in the text of passages.

use std::collections::BTreeMap;

use retrieval_core::analysis::{self, Analyzers, Language, TokenKind, analyze_query};
use retrieval_core::query_matcher::QueryMatcher;

use super::super::plan::filler;
use super::super::state::{Question, Term};

/// Words of a question that count. A pasted page has more, but its rare words come early enough.
const MAX_TERMS: usize = 64;

/// Returns the distinct content words of a question.
pub(crate) fn terms(text: &str) -> Vec<Term> {
    let analyzed = analyze_query(text, &languages(text, &[])).terms;
    let counts = |kind| matches!(kind, TokenKind::Word | TokenKind::Bigram | TokenKind::Character);
    let words: Vec<String> = analyzed.into_iter().filter(|term| counts(term.kind)).map(|term| term.word).collect();
    let mut terms: Vec<Term> = Vec::new();
    let has_content = words.iter().any(|word| !filler::is_filler(word));
    for word in words {
        if terms.len() < MAX_TERMS && !(has_content && filler::is_filler(&word)) && !is_known(&terms, &word) {
            terms.push(Term { word, passages: 0 });
        }
    }
    terms
}

fn is_known(terms: &[Term], word: &str) -> bool {
    terms.iter().any(|term| term.word == word)
}

fn languages(text: &str, documents: &[Language]) -> Vec<Language> {
    let own = analysis::detect(text).into_iter();
    let mut languages: Vec<Language> = own.chain(documents.iter().copied()).chain([Language::English]).collect();
    languages.dedup();
    languages
}

/// Finds the terms of one question in texts of one language.
pub(crate) struct QuestionMatcher {
    language: Option<Language>,
    matcher: QueryMatcher,
    /// Position in [`Question::terms`] of each term of the matcher.
    positions: Vec<Option<u16>>,
}

impl QuestionMatcher {
    /// `language`: ISO 639-1 code of the texts.
    pub fn new(question: &Question, language: Option<&str>) -> Self {
        let language = language.and_then(Language::from_code);
        Self { language, ..Self::of_languages(question, language.as_slice()) }
    }

    /// Recognizes the terms by their stems in any of the languages.
    fn of_languages(question: &Question, documents: &[Language]) -> Self {
        let text = format!("{} {}", question.text, question.topic);
        let matcher = QueryMatcher::new(&text, &languages(&text, documents));
        let position = |word: &String| question.terms.iter().position(|term| term.word == *word);
        let positions =
            matcher.terms.iter().map(|term| position(&term.word).and_then(|at| u16::try_from(at).ok())).collect();
        Self { language: None, matcher, positions }
    }

    /// Returns the positions of the terms that occur in the text, rising.
    pub fn terms_in(&self, text: &str, analyzers: &mut Analyzers) -> Vec<u16> {
        let mut found = Vec::new();
        analyzers.of(self.language).tokens(text, |token| {
            let term = self.matcher.term_of(&token).and_then(|term| self.positions.get(usize::from(term)).copied());
            found.extend(term.flatten());
        });
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Texts by the stems that they contain.
#[derive(Default)]
pub(crate) struct StemIndex {
    texts: BTreeMap<String, Vec<usize>>,
    /// Languages of the texts, each once.
    languages: Vec<Language>,
}

impl StemIndex {
    /// Adds a text under a number. `language`: ISO 639-1 code of the text.
    pub fn add(&mut self, number: usize, text: &str, language: Option<&str>, analyzers: &mut Analyzers) {
        let language = language.and_then(Language::from_code);
        if let Some(new) = language.filter(|language| !self.languages.contains(language)) {
            self.languages.push(new);
        }
        analyzers.of(language).tokens(text, |token| {
            for stem in [Some(token.stem), token.loose_stem].into_iter().flatten() {
                let texts = self.texts.entry(stem.to_owned()).or_default();
                if texts.last() != Some(&number) {
                    texts.push(number);
                }
            }
        });
    }

    /// Returns the terms of a question in each text that has any.
    pub fn terms_of(&self, question: &Question) -> BTreeMap<usize, Vec<u16>> {
        let matcher = QuestionMatcher::of_languages(question, &self.languages);
        let mut found: BTreeMap<usize, Vec<u16>> = BTreeMap::new();
        for (stem, term) in matcher.matcher.stems() {
            let Some(Some(term)) = matcher.positions.get(usize::from(term)) else { continue };
            for text in self.texts.get(stem).into_iter().flatten() {
                let terms = found.entry(*text).or_default();
                if !terms.contains(term) {
                    terms.push(*term);
                }
            }
        }
        found
    }
}

impl Question {
    /// Weight of a term: higher the fewer passages contain it.
    fn weight(&self, term: &Term) -> f64 {
        (1.0 + (f64::from(self.passages_seen) + 1.0) / (f64::from(term.passages) + 0.5)).ln()
    }

    /// Share of the question's terms, by weight, that are among `terms`: 0 to 1.
    pub(crate) fn coverage(&self, terms: &[u16]) -> f64 {
        let total: f64 = self.terms.iter().map(|term| self.weight(term)).sum();
        let found = terms.iter().filter_map(|term| self.terms.get(usize::from(*term)));
        let found: f64 = found.map(|term| self.weight(term)).sum();
        if total > 0.0 { found / total } else { 0.0 }
    }

    /// Counts a passage with these terms.
    pub(crate) fn count(&mut self, terms: &[u16]) {
        self.passages_seen = self.passages_seen.saturating_add(1);
        for term in terms {
            if let Some(term) = self.terms.get_mut(usize::from(*term)) {
                term.passages = term.passages.saturating_add(1);
            }
        }
    }
}
