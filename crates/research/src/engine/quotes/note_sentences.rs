//! Sentences of notes for comparisons with many statements.

use std::collections::BTreeMap;

use super::super::state::State;
use super::super::text::similar::Gist;
use super::{Quote, of_note, text};

/// Sentences of several notes. Their words are computed once: an answer of a model can have thousands of statements.
pub(crate) struct NoteSentences {
    by_note: BTreeMap<usize, Vec<(Quote, Gist)>>,
}

impl NoteSentences {
    pub fn of(state: &State, notes: impl Iterator<Item = usize>) -> Self {
        let mut by_note = BTreeMap::new();
        for note in notes {
            let quotes = of_note(state, note).into_iter();
            let sentences: Vec<(Quote, Gist)> = quotes.map(|quote| (quote, Gist::of(text(state, quote)))).collect();
            by_note.insert(note, sentences);
        }
        Self { by_note }
    }

    /// Returns the sentence of a note that resembles a statement most, and the share of the words that both have. The
    /// first one if none does.
    pub fn closest(&self, note: usize, statement: &Gist) -> Option<(Quote, f64)> {
        self.best(note, |_, gist| statement.resemblance(gist))
    }

    /// Returns the sentence of a note that is worth most, with its worth; the first one of several.
    pub fn best(&self, note: usize, worth: impl Fn(Quote, &Gist) -> f64) -> Option<(Quote, f64)> {
        let mut best: Option<(Quote, f64)> = None;
        for (quote, gist) in self.by_note.get(&note)? {
            let worth = worth(*quote, gist);
            if best.is_none_or(|(_, most)| worth > most) {
                best = Some((*quote, worth));
            }
        }
        best
    }

    /// Returns the sentences of all notes in order.
    pub fn quotes(&self) -> impl Iterator<Item = Quote> {
        self.by_note.values().flatten().map(|(quote, _)| *quote)
    }

    /// Returns the sentence of all notes that resembles a statement most, and the share of the words that both have.
    pub fn closest_of_all(&self, statement: &Gist) -> Option<(Quote, f64)> {
        let closest = self.by_note.keys().filter_map(|note| self.closest(*note, statement));
        closest.max_by(|a, b| a.1.total_cmp(&b.1))
    }
}
