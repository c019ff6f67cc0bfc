//! Words of a question in the text of passages.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use retrieval_core::analysis::{self, Analyzers, Language, TokenKind, analyze_query};
use retrieval_core::query_matcher::QueryMatcher;

use super::super::plan::filler;
use super::super::state::{Question, Term};

/// Words of a question that count. A pasted page has more, but its rare words come early enough.
const MAX_TERMS: usize = 64;

/// Languages of documents that a question is read in besides its own. Each of them is another pass over the question.
const MAX_LANGUAGES: usize = 3;

/// Returns the distinct content words of a question.
pub(crate) fn terms(text: &str) -> Vec<Term> {
    terms_among(text, &[])
}

/// Returns the distinct content words of a question about documents of these languages, most common first.
fn terms_among(text: &str, documents: &[Language]) -> Vec<Term> {
    let analyzed = analyze_query(text, &languages(text, documents)).terms;
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
        let text = question.search_text();
        let own = question.languages.iter().filter_map(|code| Language::from_code(code));
        let documents: Vec<Language> = own.chain(documents.iter().copied()).collect();
        let matcher = QueryMatcher::new(&text, &languages(&text, &documents));
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

    /// Returns a question about the texts.
    pub fn question(&self, text: &str) -> Question {
        Question { text: text.to_owned(), terms: terms_among(text, &self.languages), ..Question::default() }
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
    /// Reads the question as one about documents of these languages. A short question does not tell its own, and its
    /// function words would count as words that no document contains.
    ///
    /// `codes`: ISO 639-1 code of each document. Positions of terms that were found before lose their meaning.
    pub(crate) fn read_among<'a>(&mut self, codes: impl Iterator<Item = &'a str>) {
        let mut counts: Vec<(usize, Language)> = Vec::new();
        for language in codes.filter_map(Language::from_code) {
            match counts.iter_mut().find(|(_, known)| *known == language) {
                Some((count, _)) => *count += 1,
                None => counts.push((1, language)),
            }
        }
        // Stable: of equally common languages that of the best document comes first.
        counts.sort_by_key(|(count, _)| Reverse(*count));
        let languages: Vec<Language> = counts.into_iter().map(|(_, language)| language).take(MAX_LANGUAGES).collect();
        self.terms = terms_among(&self.search_text(), &languages);
        self.languages = languages.into_iter().map(|language| language.code().to_owned()).collect();
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_term_can_be_found_in_documents_of_the_language() {
        for (language, text, function_words) in [
            ("de", "Wie hoch ist der Umsatz der Nordwerk GmbH?", &["wie", "ist", "der"][..]),
            ("es", "¿Cuánto cuesta la entrada al Museo del Mar?", &["la", "al", "del"]),
            ("fr", "Combien coûte le vélo électrique Lyra ?", &[]),
            ("de", "Wie viele Tage Urlaub haben Mitarbeiter der Nordwerk GmbH?", &["wie", "der"]),
        ] {
            let mut question = Question { text: text.to_owned(), ..Question::default() };
            question.read_among([language].into_iter());
            for word in function_words {
                assert!(!is_known(&question.terms, word), "{word}: {:?}", question.terms);
            }
            let positions = QuestionMatcher::new(&question, Some(language)).positions;
            let mut found: Vec<u16> = positions.into_iter().flatten().collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found.len(), question.terms.len(), "{text}: {:?}", question.terms);
        }
    }

    #[test]
    fn languages_of_documents_are_ordered_by_their_number() {
        let text = "What is the history of the war of the roses?";
        let mut question = Question { text: text.to_owned(), ..Question::default() };
        question.read_among(["de", "en-US", "xx", "en", "fr", "es"].into_iter());
        assert_eq!(question.languages, ["en", "de", "fr"]);
        assert!(is_known(&question.terms, "war"), "a function word in German only: {:?}", question.terms);
        question.read_among([].into_iter());
        assert!(question.languages.is_empty() && is_known(&question.terms, "roses"));
    }
}
