//! The model's value, reduced to what the notes support.
//!
//! A field keeps its value if the model names notes for it or for the field above, or if a sentence of a note resembles
//! it. Other fields become null or are removed. Addresses that no source has are removed from texts.

use jsonschema::Validator;
use serde_json::Value;

use super::super::quotes;
use super::super::quotes::addresses::without_unknown_addresses;
use super::super::state::{State, WrittenBasis};
use super::super::text::similar::Gist;
use super::field::{Field, confidence};
use super::limits::escape;

/// Shared words that make a sentence the basis of a text.
const SUPPORTS: f64 = 0.3;
const MAX_NESTING: usize = 32;
const MAX_QUOTES: usize = 4;

/// Returns the supported part of the value with the basis of its fields.
pub(super) fn supported(
    state: &State,
    value: &Value,
    basis: &[WrittenBasis],
    validator: &Validator,
) -> (Value, Vec<Field>) {
    let mut reader = Reader { state, basis, fields: Vec::new() };
    let mut kept = value.clone();
    reader.keep(&mut kept, "", 0, Unsupported::Null);
    if !validator.is_valid(&kept) {
        kept = value.clone();
        reader.fields.clear();
        reader.keep(&mut kept, "", 0, Unsupported::Removed);
    }
    (kept, reader.fields)
}

/// Treatment of fields without a basis.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Unsupported {
    Null,
    Removed,
}

struct Reader<'a> {
    state: &'a State,
    basis: &'a [WrittenBasis],
    fields: Vec<Field>,
}

impl Reader<'_> {
    /// Returns false if the value has no basis.
    fn keep(&mut self, value: &mut Value, pointer: &str, depth: usize, unsupported: Unsupported) -> bool {
        if depth > MAX_NESTING {
            return false;
        }
        match value {
            Value::Object(object) => {
                let names: Vec<String> = object.keys().cloned().collect();
                for name in names {
                    let Some(field) = object.get_mut(&name) else { continue };
                    if !self.keep(field, &format!("{pointer}/{}", escape(&name)), depth + 1, unsupported) {
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
                for mut item in std::mem::take(list) {
                    if self.keep(&mut item, &format!("{pointer}/{}", kept.len()), depth + 1, unsupported) {
                        kept.push(item);
                    }
                }
                *list = kept;
                true
            }
            Value::Null => true,
            Value::String(text) => {
                let known = without_unknown_addresses(self.state, text);
                if known.len() != text.len() {
                    *text = known.split_whitespace().collect::<Vec<_>>().join(" ");
                }
                let text = text.clone();
                !text.is_empty() && self.base(pointer, &text, true)
            }
            Value::Bool(flag) => {
                let text = flag.to_string();
                self.base(pointer, &text, false)
            }
            Value::Number(number) => {
                let text = number.to_string();
                self.base(pointer, &text, false)
            }
        }
    }

    /// Adds the basis of a field. Returns false if it has none.
    fn base(&mut self, pointer: &str, text: &str, is_text: bool) -> bool {
        let gist = Gist::of(text);
        let named = self.named(pointer).to_vec();
        let mut found: Vec<quotes::Quote> = Vec::new();
        for note in named {
            if let Some((quote, _)) = quotes::closest(self.state, note, &gist)
                && !found.contains(&quote)
                && found.len() < MAX_QUOTES
            {
                found.push(quote);
            }
        }
        if found.is_empty() && is_text {
            let all = (0..self.state.notes.len()).filter_map(|note| quotes::closest(self.state, note, &gist));
            let best = all.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, share)| *share >= SUPPORTS);
            found.extend(best.map(|(quote, _)| quote));
        }
        if found.is_empty() {
            return false;
        }
        let confidence = confidence(self.state, &found, is_text.then_some(text));
        self.fields.push(Field { pointer: pointer.to_owned(), quotes: found, confidence });
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
