//! The model's value, reduced to what the notes support.
//!
//! A field keeps its value if the model names notes for it or for the field above, or if a sentence of a note resembles
//! it. Other fields become null or are removed. Addresses that no source has are removed from texts.

use std::fmt::Display;

use jsonschema::Validator;
use serde_json::Value;

use super::super::quotes::Quote;
use super::super::quotes::addresses::{has_address, without_unknown_addresses};
use super::super::quotes::note_sentences::NoteSentences;
use super::super::state::{State, WrittenBasis};
use super::super::text::display;
use super::super::text::similar::Gist;
use super::field::{Field, confidence};
use super::limits::escape;

/// Shared words that make a sentence the basis of a text.
const SUPPORTS: f64 = 0.3;
const MAX_NESTING: usize = 32;
const MAX_QUOTES: usize = 4;
/// Texts without a basis that are compared with all notes. More do not fit into a result.
const MAX_UNNAMED: usize = 500;

/// Returns the supported part of the value with the basis of its fields.
pub(super) fn supported(
    state: &State,
    value: &Value,
    basis: &[WrittenBasis],
    validator: &Validator,
) -> (Value, Vec<Field>) {
    let sentences = NoteSentences::of(state, 0..state.notes.len());
    let mut reader = Reader { state, basis, sentences, fields: Vec::new(), unnamed: MAX_UNNAMED };
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

struct Reader<'a> {
    state: &'a State,
    basis: &'a [WrittenBasis],
    sentences: NoteSentences,
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
                !text.is_empty() && self.base(place, &text, true)
            }
            Value::Bool(flag) => {
                let text = flag.to_string();
                self.base(place, &text, false)
            }
            Value::Number(number) => {
                let text = number.to_string();
                self.base(place, &text, false)
            }
        }
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
    fn base(&mut self, place: &Place, text: &str, is_text: bool) -> bool {
        let gist = Gist::of(text);
        let mut found: Vec<Quote> = Vec::new();
        for note in self.named(&place.written) {
            if found.len() == MAX_QUOTES {
                break;
            }
            if found.iter().all(|quote| quote.note != *note) {
                found.extend(self.sentences.closest(*note, &gist).map(|(quote, _)| quote));
            }
        }
        if found.is_empty() && is_text && self.unnamed > 0 {
            self.unnamed -= 1;
            let best = self.sentences.closest_of_all(&gist).filter(|(_, share)| *share >= SUPPORTS);
            found.extend(best.map(|(quote, _)| quote));
        }
        if found.is_empty() {
            return false;
        }
        let confidence = confidence(self.state, &found, is_text.then_some(text));
        self.fields.push(Field { pointer: place.kept.clone(), quotes: found, confidence });
        true
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
