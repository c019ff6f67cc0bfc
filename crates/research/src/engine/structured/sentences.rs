//! Sentences of the notes for one field of a schema.

use retrieval_core::analysis::Analyzers;

use super::super::quotes::excerpts;
use super::super::quotes::{self, Quote};
use super::super::state::{Question, State};
use super::super::text::similar::Gist;
use super::super::text::words::{self, QuestionMatcher};

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

/// All sentences of the notes, analysed for fields one after the other.
pub(super) struct Sentences<'a> {
    state: &'a State,
    quotes: Vec<(Quote, Gist)>,
}

impl<'a> Sentences<'a> {
    pub fn of(state: &'a State) -> Self {
        let all = (0..state.notes.len()).flat_map(|note| quotes::of_note(state, note));
        let quotes = all.map(|quote| (quote, Gist::of(quotes::text(state, quote)))).collect();
        Self { state, quotes }
    }

    pub fn text(&self, quote: Quote) -> &'a str {
        quotes::text(self.state, quote)
    }

    /// Returns the sentences about a field, best first. `subject` are words of the assignment, which count less. Only
    /// sentences of `source`, if given.
    pub fn about(&self, field: &str, subject: &str, source: Option<usize>) -> Vec<Sentence> {
        let own = question(field);
        let context = question(subject);
        let (of_field, of_subject) = (QuestionMatcher::new(&own, None), QuestionMatcher::new(&context, None));
        let mut analyzers = Analyzers::default();
        let mut found = Vec::new();
        for (quote, gist) in &self.quotes {
            let note = &self.state.notes[quote.note];
            if source.is_some_and(|source| source != note.source) {
                continue;
            }
            let text = self.text(*quote);
            let own_share = own.coverage(&of_field.terms_in(text, &mut analyzers));
            if own_share < LEAST_SHARE {
                continue;
            }
            let context_share = context.coverage(&of_subject.terms_in(text, &mut analyzers));
            found.push(Sentence { quote: *quote, share: own_share + 0.5 * context_share, gist: gist.clone() });
        }
        found.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.quote.cmp(&b.quote)));
        found.truncate(MAX_SENTENCES);
        found
    }

    /// Returns the sentences that answer the assignment itself, for fields whose names say nothing, such as `summary`.
    pub fn best(&self) -> Vec<Sentence> {
        let mut found: Vec<Sentence> = Vec::new();
        for question in 0..self.state.questions.len() {
            for excerpt in excerpts::candidates(self.state, question).into_iter().take(MAX_SENTENCES) {
                if !found.iter().any(|known| known.quote == excerpt.quote) {
                    found.push(Sentence { quote: excerpt.quote, share: excerpt.score, gist: excerpt.gist });
                }
            }
        }
        found.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.quote.cmp(&b.quote)));
        found
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

fn question(text: &str) -> Question {
    Question { text: text.to_owned(), terms: words::terms(text), ..Question::default() }
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
