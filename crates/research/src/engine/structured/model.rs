//! The model's value, reduced to what the notes support.
//!
//! A field keeps its value if the model names notes for it or for the field above, or if a sentence of a note resembles
//! it. Other fields become null or are removed. Addresses that no source has are removed from texts. Properties with such
//! addresses in their names are removed, unless the schema declares these names.
//!
//! Only sentences that state the value raise the confidence. A value that no named note states may be derived, such as a
//! sum, a converted unit or a translated word: it keeps the notes as its basis, with low confidence.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::ops::Range;

use jsonschema::Validator;
use serde_json::Value;

use super::super::quotes::addresses::{has_address, without_unknown_addresses};
use super::super::quotes::note_sentences::NoteSentences;
use super::super::quotes::{self, Quote};
use super::super::state::{State, WrittenBasis};
use super::super::text::figures::{Figures, are_stated};
use super::super::text::similar::Gist;
use super::super::text::times::Time;
use super::super::text::{dates, display, words};
use super::field::{Field, SUPPORTS, by_sources, support};
use super::limits::escape;
use super::sentences::words_of_name;
use super::shape::declared_names;

const MAX_NESTING: usize = 32;
const MAX_QUOTES: usize = 4;
/// Texts without a basis that are compared with all notes. More do not fit into a result.
const MAX_UNNAMED: usize = 500;

/// Returns the supported part of the value with the basis of its fields.
pub(super) fn supported(
    state: &State,
    value: &Value,
    basis: &[WrittenBasis],
    schema: &Value,
    validator: &Validator,
) -> (Value, Vec<Field>) {
    let sentences = NoteSentences::of(state, 0..state.notes.len());
    let figures = sentences.quotes().map(|quote| (quote, Figures::of(quotes::text(state, quote)))).collect();
    let declared = declared_names(schema);
    let mut reader = Reader { state, basis, declared, sentences, figures, fields: Vec::new(), unnamed: MAX_UNNAMED };
    let mut kept = value.clone();
    reader.keep(&mut kept, &Place::default(), 0, Unsupported::Null);
    if !validator.is_valid(&kept) {
        kept = value.clone();
        reader.fields.clear();
        reader.unnamed = MAX_UNNAMED;
        reader.keep(&mut kept, &Place::default(), 0, Unsupported::Removed);
    }
    (kept, reader.fields)
}

/// Treatment of fields without a basis.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Unsupported {
    Null,
    Removed,
}

/// Place of a field. Both pointers differ behind an item that was removed from a list.
#[derive(Default)]
struct Place {
    /// Pointer into the model's value, by which its basis is named.
    written: String,
    /// Pointer into the kept value.
    kept: String,
}

impl Place {
    fn child(&self, written: impl Display, kept: impl Display) -> Self {
        Self { written: format!("{}/{written}", self.written), kept: format!("{}/{kept}", self.kept) }
    }
}

/// Value of a field, for comparison with sentences.
enum Claim<'a> {
    Text(&'a str, Gist),
    /// A date, with its time unless that is midnight.
    Date(dates::Date, Option<Time>),
    Number(f64),
    /// True or false, with the words of the field's name: a sentence without any of them is not about it.
    Truth(Gist),
}

impl<'a> Claim<'a> {
    /// A text that is a whole date, also with a time of ISO 8601, is one.
    fn of_text(text: &'a str) -> Self {
        if let [(Range { start: 0, end }, date)] = dates::dates(text).as_slice() {
            let after = &text[*end..];
            if after.is_empty() {
                return Self::Date(*date, None);
            }
            if let Some(time) = after.strip_prefix(['T', 't', ' ']).and_then(Time::from_iso) {
                return Self::Date(*date, (time != Time::MIDNIGHT).then_some(time));
            }
        }
        Self::Text(text, Gist::of(text))
    }

    /// `pointer`: place of the value. The positions in lists around it are no name.
    fn of_truth(pointer: &str) -> Self {
        let name = pointer.rsplit('/').find(|name| name.parse::<usize>().is_err()).unwrap_or_default();
        let words: Vec<String> = words::terms(&words_of_name(name)).into_iter().map(|term| term.word).collect();
        Self::Truth(Gist::of(&words.join(" ")))
    }
}

struct Reader<'a> {
    state: &'a State,
    basis: &'a [WrittenBasis],
    /// Names of properties that are the caller's own.
    declared: BTreeSet<&'a str>,
    sentences: NoteSentences,
    /// Numbers, dates and times of each sentence.
    figures: BTreeMap<Quote, Figures>,
    fields: Vec<Field>,
    /// Texts without a basis that may still be compared with all notes.
    unnamed: usize,
}

impl Reader<'_> {
    /// Returns false if the value has no basis.
    fn keep(&mut self, value: &mut Value, place: &Place, depth: usize, unsupported: Unsupported) -> bool {
        if depth > MAX_NESTING {
            return false;
        }
        match value {
            Value::Object(object) => {
                let names: Vec<String> = object.keys().cloned().collect();
                for name in names {
                    if !self.is_harmless(&name) {
                        object.remove(&name);
                        continue;
                    }
                    let Some(field) = object.get_mut(&name) else { continue };
                    let pointer = escape(&name);
                    if !self.keep(field, &place.child(&pointer, &pointer), depth + 1, unsupported) {
                        match unsupported {
                            Unsupported::Null => *field = Value::Null,
                            Unsupported::Removed => drop(object.remove(&name)),
                        }
                    }
                }
                true
            }
            Value::Array(list) => {
                let mut kept = Vec::new();
                for (written, mut item) in std::mem::take(list).into_iter().enumerate() {
                    if self.keep(&mut item, &place.child(written, kept.len()), depth + 1, unsupported) {
                        kept.push(item);
                    }
                }
                *list = kept;
                true
            }
            Value::Null => true,
            Value::String(text) => {
                self.remove_unknown_addresses(text);
                let text = text.clone();
                !text.is_empty() && self.base(place, &Claim::of_text(&text))
            }
            Value::Bool(_) => self.base(place, &Claim::of_truth(&place.written)),
            Value::Number(number) => number.as_f64().is_some_and(|number| self.base(place, &Claim::Number(number))),
        }
    }

    /// Returns true for the name of a property that the schema declares, or that has no unknown or hidden address.
    fn is_harmless(&self, name: &str) -> bool {
        let mut text = name.to_owned();
        if !self.declared.contains(name) {
            self.remove_unknown_addresses(&mut text);
        }
        text == name
    }

    fn remove_unknown_addresses(&self, text: &mut String) {
        // Invisible characters would hide an address.
        let visible = display::without_hidden(text);
        let known = without_unknown_addresses(self.state, &visible);
        let is_hidden = visible.len() != text.len() && has_address(&visible);
        if is_hidden || known.len() != visible.len() {
            *text = known.split_whitespace().collect::<Vec<_>>().join(" ");
        }
    }

    /// Adds the basis of a field. Returns false if it has none.
    fn base(&mut self, place: &Place, claim: &Claim<'_>) -> bool {
        let mut found = self.named_quotes(&place.written, claim);
        if found.is_empty()
            && let Claim::Text(text, gist) = claim
            && self.unnamed > 0
        {
            self.unnamed -= 1;
            let best = self.sentences.closest_of_all(gist).filter(|(_, share)| *share >= SUPPORTS);
            found.extend(best.map(|(quote, _)| (quote, true)).filter(|best| self.are_numbers_stated(text, &[*best])));
        }
        if found.is_empty() {
            return false;
        }
        if let Claim::Text(text, _) = claim {
            // Several notes can make one text, but a number that none of them states makes it doubtful.
            if !self.are_numbers_stated(text, &found) {
                found.iter_mut().for_each(|(_, supports)| *supports = false);
            }
        } else if found.iter().any(|(_, supports)| *supports) {
            found.retain(|(_, supports)| *supports);
        }
        found.truncate(MAX_QUOTES);
        let supporting = found.iter().filter(|(_, supports)| *supports).map(|(quote, _)| *quote);
        let confidence = by_sources(self.state, &supporting.collect::<Vec<_>>());
        let quotes = found.into_iter().map(|(quote, _)| quote).collect();
        self.fields.push(Field { pointer: place.kept.clone(), quotes, confidence });
        true
    }

    /// Returns the best sentence of each note that the model names for a field, and true if it supports the claim.
    fn named_quotes(&self, pointer: &str, claim: &Claim<'_>) -> Vec<(Quote, bool)> {
        // Comparing words takes far longer than comparing numbers.
        let most = if matches!(claim, Claim::Text(..)) { MAX_QUOTES } else { usize::MAX };
        let mut found: Vec<(Quote, bool)> = Vec::new();
        for note in self.named(pointer) {
            if found.len() < most && found.iter().all(|(quote, _)| quote.note != *note) {
                let best = self.sentences.best(*note, |quote, gist| self.worth(claim, quote, gist));
                found.extend(best.map(|(quote, worth)| (quote, worth >= SUPPORTS)));
            }
        }
        found
    }

    /// Returns the support of a claim by a sentence: 0 to 1.
    fn worth(&self, claim: &Claim<'_>, quote: Quote, gist: &Gist) -> f64 {
        let figures = self.figures.get(&quote);
        let is_stated = match claim {
            Claim::Text(_, text) => return support(text, gist),
            Claim::Date(date, time) => {
                figures.is_some_and(|figures| figures.has_date(*date) && time.is_none_or(|time| figures.has_time(time)))
            }
            Claim::Number(number) => figures.is_some_and(|figures| figures.states(*number)),
            Claim::Truth(name) => name.resemblance(gist) > 0.0,
        };
        f64::from(u8::from(is_stated))
    }

    /// Returns true if the notes of the quotes state the numbers of a text.
    fn are_numbers_stated(&self, text: &str, quotes: &[(Quote, bool)]) -> bool {
        let of_note = |note: usize| {
            let (first, next) = (Quote { note, start: 0, end: 0 }, Quote { note: note + 1, start: 0, end: 0 });
            self.figures.range(first..next).map(|(_, figures)| figures)
        };
        let figures: Vec<&Figures> = quotes.iter().flat_map(|(quote, _)| of_note(quote.note)).collect();
        are_stated(text, &figures)
    }

    /// Returns the notes that the model names for a field, or for the closest field above it.
    fn named(&self, pointer: &str) -> &[usize] {
        let mut pointer = pointer;
        loop {
            let found = self.basis.iter().find(|entry| entry.field == pointer && !entry.notes.is_empty());
            if let Some(found) = found {
                return &found.notes;
            }
            match pointer.rfind('/') {
                Some(at) => pointer = &pointer[..at],
                None => return &[],
            }
        }
    }
}
