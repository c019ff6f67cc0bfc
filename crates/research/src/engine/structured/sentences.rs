//! Sentences of the notes for one field of a schema.

use std::collections::BTreeMap;

use retrieval_core::analysis::Analyzers;

use super::super::quotes::excerpts;
use super::super::quotes::{self, Quote};
use super::super::state::{Question, State};
use super::super::text::similar::Gist;
use super::super::text::words::StemIndex;

/// Sentences that are looked at for one field.
const MAX_SENTENCES: usize = 30;
/// Least share of a field's words in a sentence.
const LEAST_SHARE: f64 = 0.25;
/// Share of the best sentence's score that counts as equally good.
pub(super) const AS_GOOD: f64 = 0.85;

/// A sentence with the share of the field's words in it.
#[derive(Clone, Debug)]
pub(super) struct Sentence {
    pub quote: Quote,
    pub share: f64,
    pub gist: Gist,
}

/// All sentences of the notes, indexed once for all fields.
pub(super) struct Sentences<'a> {
    state: &'a State,
    quotes: Vec<(Quote, Gist)>,
    index: StemIndex,
    /// The words of the assignment, and those that each sentence contains.
    subject: Question,
    of_subject: BTreeMap<usize, Vec<u16>>,
    /// Sentences that answer the assignment itself, best first.
    best: Vec<Sentence>,
}

impl<'a> Sentences<'a> {
    pub fn of(state: &'a State, subject: &str) -> Self {
        let all = (0..state.notes.len()).flat_map(|note| quotes::of_note(state, note));
        let quotes: Vec<(Quote, Gist)> = all.map(|quote| (quote, Gist::of(quotes::text(state, quote)))).collect();
        let mut index = StemIndex::default();
        let mut analyzers = Analyzers::default();
        for (number, (quote, _)) in quotes.iter().enumerate() {
            let language = language(state, *quote);
            index.add(number, quotes::text(state, *quote), language, &mut analyzers);
        }
        let subject = index.question(subject);
        let of_subject = index.terms_of(&subject);
        Self { state, quotes, index, subject, of_subject, best: best(state) }
    }

    pub fn text(&self, quote: Quote) -> &'a str {
        quotes::text(self.state, quote)
    }

    /// Returns the ISO 639-1 code of a quote's source.
    pub fn language(&self, quote: Quote) -> Option<&'a str> {
        language(self.state, quote)
    }

    /// Returns the sentences about a field, best first. Words of the assignment count less than those of the field.
    /// Only sentences of `source`, if given.
    pub fn about(&self, field: &str, source: Option<usize>) -> Vec<Sentence> {
        if self.quotes.is_empty() {
            return Vec::new();
        }
        let own = self.index.question(field);
        let mut found = Vec::new();
        for (number, terms) in self.index.terms_of(&own) {
            let (quote, gist) = &self.quotes[number];
            let share = own.coverage(&terms);
            let is_elsewhere = source.is_some_and(|source| source != self.state.notes[quote.note].source);
            if share >= LEAST_SHARE && !is_elsewhere {
                let of_subject = self.of_subject.get(&number).map_or(0.0, |terms| self.subject.coverage(terms));
                found.push(Sentence { quote: *quote, share: share + 0.5 * of_subject, gist: gist.clone() });
            }
        }
        sort(&mut found);
        found.truncate(MAX_SENTENCES);
        found
    }

    /// Returns the sentences for fields whose names say nothing, such as `summary`.
    pub fn best(&self) -> &[Sentence] {
        &self.best
    }

    /// Returns the sources of the notes in order.
    pub fn sources(&self) -> Vec<usize> {
        let mut sources: Vec<usize> = Vec::new();
        for (quote, _) in &self.quotes {
            let source = self.state.notes[quote.note].source;
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        sources
    }
}

fn language(state: &State, quote: Quote) -> Option<&str> {
    state.sources[state.notes[quote.note].source].language.as_deref()
}

fn best(state: &State) -> Vec<Sentence> {
    let mut found: Vec<Sentence> = Vec::new();
    for excerpt in excerpts::by_question(state).into_iter().flat_map(|list| list.into_iter().take(MAX_SENTENCES)) {
        if !found.iter().any(|known| known.quote == excerpt.quote) {
            found.push(Sentence { quote: excerpt.quote, share: excerpt.score, gist: excerpt.gist });
        }
    }
    sort(&mut found);
    found
}

fn sort(sentences: &mut [Sentence]) {
    sentences.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.quote.cmp(&b.quote)));
}

/// Returns the words of a property's name: `unitPrice` and `unit_price` are `unit price`.
pub(super) fn words_of_name(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    let mut before_lower = false;
    for c in name.chars() {
        if c.is_uppercase() && before_lower {
            words.push(' ');
        }
        words.push(if matches!(c, '_' | '-' | '.') { ' ' } else { c });
        before_lower = c.is_lowercase();
    }
    words
}
