//! Filling of a schema by rules.
//!
//! Text is the best sentence about the field; lists are the best sentences, or an object for each source. Numbers,
//! dates, booleans and enumerations are taken only if the best sentences agree. Anything else is null or left out.

use std::collections::BTreeMap;

use retrieval_core::chars;
use serde_json::{Map, Value};

use super::super::assignment::Format;
use super::super::quotes::Quote;
use super::super::result::Problem;
use super::super::state::State;
use super::super::text::display;
use super::super::text::similar::Gist;
use super::field::{Field, confidence};
use super::limits::{escape, resolve};
use super::negations;
use super::number_field::NumberField;
use super::sentences::{AS_GOOD, Sentence, Sentences, words_of_name};
use super::shape::{allows_null, is_date, kind, value_rules};
use super::values;

/// Items of a list without `maxItems`.
const ITEMS: usize = 5;
/// Items of a list with `maxItems`.
const MAX_ITEMS: usize = 20;
/// Names of fields that ask for the answer to the assignment itself.
const GENERAL: &[&str] = &[
    "answer",
    "summary",
    "overview",
    "conclusion",
    "findings",
    "result",
    "report",
    "text",
    "abstract",
    "facts",
    "points",
    "zusammenfassung",
    "antwort",
    "resume",
    "resumen",
];
/// Values that are filled at most: more than any schema within the limits needs.
const MAX_VALUES: usize = 2_000;
/// Quotes that one value is based on.
const MAX_QUOTES: usize = 4;
/// Length of a field's name, title and description, with those of the fields around it, in characters. They are
/// analysed for each value, and thousands of values can share one description by reference.
const MAX_WORDS_CHARS: usize = 400;
/// Options of an enumeration that cost as much as one value, because each sentence is searched for each of them.
const OPTIONS_PER_VALUE: usize = 50;

/// Reasons for a field without a value.
const NOTHING: &str = "no sentence has a value for it";
const SEVERAL: &str = "the sources name several values, or one that can be read in two ways";
const UNFIT: &str = "the value of the sources does not fit its schema";
const TOO_FEW: &str = "the sources have too few items for it";
const TOO_MANY: &str = "the schema has too many values";

/// Fills one schema.
pub(super) struct Filler<'a> {
    state: &'a State,
    root: &'a Value,
    /// Words of the assignment.
    subject: &'a str,
    sentences: Sentences<'a>,
    pub fields: Vec<Field>,
    /// Fields without a value.
    pub problems: Vec<Problem>,
    /// Reason why the last value is missing, unless it is [`NOTHING`].
    gap: Option<&'static str>,
    /// Sentences that are the text of a field already.
    used: Vec<Gist>,
    left: usize,
}

/// Place in the result.
#[derive(Clone, Debug, Default)]
struct Place {
    pointer: String,
    /// Words of its name.
    name: String,
    /// Words of the field: its name and description.
    words: String,
    number: NumberField,
    source: Option<usize>,
    /// True if the field must have a value: the best sentence of all, if none is about it.
    required: bool,
}

impl<'a> Filler<'a> {
    /// `subject`: words of the assignment.
    pub fn new(state: &'a State, root: &'a Value, subject: &'a str) -> Self {
        Self {
            state,
            root,
            subject: chars::truncate(subject, MAX_WORDS_CHARS),
            sentences: Sentences::of(state, subject),
            fields: Vec::new(),
            problems: Vec::new(),
            gap: None,
            used: Vec::new(),
            left: MAX_VALUES,
        }
    }

    /// Returns the value of the root; `None` if nothing can be said.
    pub fn fill(&mut self) -> Option<Value> {
        let root = self.root;
        let place = self.described("", root, &Place { required: true, ..Place::default() });
        let value = self.value(root, &place);
        if value.as_ref().is_none_or(Value::is_null) {
            let problem = self.problem(&place);
            self.problems.push(problem);
        }
        value
    }

    /// Returns the problem of a place whose value is missing.
    fn problem(&mut self, place: &Place) -> Problem {
        let message = self.gap.take().unwrap_or(NOTHING);
        Problem { field: place.pointer.clone(), message: message.to_owned() }
    }

    fn value(&mut self, schema: &'a Value, place: &Place) -> Option<Value> {
        let before = self.lengths();
        let value = self.filled(schema, place);
        if value.as_ref().is_none_or(Value::is_null) {
            // Parts of it, such as the items of a list that is too short, are in no result.
            self.truncate(before);
        }
        value
    }

    /// Returns the numbers of filled fields, used sentences and problems.
    fn lengths(&self) -> [usize; 3] {
        [self.fields.len(), self.used.len(), self.problems.len()]
    }

    /// Forgets everything behind these [`lengths`](Self::lengths).
    fn truncate(&mut self, [fields, used, problems]: [usize; 3]) {
        self.fields.truncate(fields);
        self.used.truncate(used);
        self.problems.truncate(problems);
    }

    /// Counts values; `None` if there are too many.
    fn spend(&mut self, values: usize) -> Option<()> {
        let Some(left) = self.left.checked_sub(values) else {
            self.gap = Some(TOO_MANY);
            return None;
        };
        self.left = left;
        Some(())
    }

    fn filled(&mut self, schema: &'a Value, place: &Place) -> Option<Value> {
        self.spend(1)?;
        let schema = self.resolved(schema);
        let object = schema.as_object()?;
        if let Some(constant) = object.get("const") {
            return Some(constant.clone());
        }
        if let Some(options) = object.get("enum").and_then(Value::as_array) {
            self.spend(options.len() / OPTIONS_PER_VALUE)?;
            let value = self.agreed(place, object, |text, language| values::options_in(text, language, options));
            return value.or_else(|| options.iter().find(|option| option.is_null()).cloned());
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(branches) = object.get(key).and_then(Value::as_array) {
                let value =
                    branches.iter().find_map(|branch| self.value(branch, place).filter(|value| !value.is_null()));
                return value.or_else(|| branches.iter().any(|b| allows_null(self.resolved(b))).then_some(Value::Null));
            }
        }
        let value = match kind(object) {
            "object" => self.object(schema, place),
            "array" => self.array(object, place),
            "string" => self.string(object, place),
            kind @ ("number" | "integer") => self.agreed(place, object, |text, language| {
                values::numbers_in(text, language, &place.number, kind == "integer")
            }),
            "boolean" => self.agreed(place, object, |text, language| {
                negations::answer_in(text, language, &place.name).into_iter().collect()
            }),
            _ => None,
        };
        value.or_else(|| allows_null(schema).then_some(Value::Null))
    }

    fn resolved(&self, schema: &'a Value) -> &'a Value {
        let mut schema = schema;
        // Schemas with recursive references are refused, so this ends; the bound is for the reader.
        for _ in 0..super::limits::MAX_DEPTH {
            match schema.get("$ref").and_then(Value::as_str).and_then(|reference| resolve(self.root, reference)) {
                Some(target) => schema = target,
                None => break,
            }
        }
        schema
    }

    fn object(&mut self, schema: &'a Value, place: &Place) -> Option<Value> {
        let mut result = Map::new();
        let mut parts = vec![schema];
        parts.extend(
            schema.get("allOf").and_then(Value::as_array).into_iter().flatten().map(|part| self.resolved(part)),
        );
        let required: Vec<&str> = parts
            .iter()
            .filter_map(|part| part.get("required")?.as_array())
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut missing: BTreeMap<&str, Problem> = BTreeMap::new();
        for part in &parts {
            for (name, property) in part.get("properties").and_then(Value::as_object).into_iter().flatten() {
                let field = Place {
                    pointer: format!("{}/{}", place.pointer, escape(name)),
                    required: required.contains(&name.as_str()),
                    ..self.described(name, property, place)
                };
                let before = self.lengths();
                self.gap = None;
                let value = self.value(property, &field);
                if value.as_ref().is_none_or(Value::is_null) {
                    missing.insert(name, self.problem(&field));
                }
                match value {
                    Some(Value::Null) if !required.contains(&name.as_str()) => {}
                    Some(value) => {
                        let replaced = result.insert(name.clone(), value);
                        if replaced.is_some() {
                            self.forget(&field.pointer, before);
                        }
                    }
                    None => {}
                }
            }
        }
        // Another part of the schema can have filled the field.
        missing.retain(|name, _| result.get(*name).is_none_or(Value::is_null));
        self.problems.extend(missing.into_values());
        Some(Value::Object(result))
    }

    /// Removes the bases and problems of a value that another part of the schema has replaced: those before these
    /// [`lengths`](Self::lengths).
    fn forget(&mut self, pointer: &str, [fields, _, problems]: [usize; 3]) {
        let is_part =
            |field: &str| field.strip_prefix(pointer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let mut at = 0;
        self.fields.retain(|field| {
            at += 1;
            at > fields || !is_part(&field.pointer)
        });
        let mut at = 0;
        self.problems.retain(|problem| {
            at += 1;
            at > problems || !is_part(&problem.field)
        });
    }

    /// Returns a place with the name and the texts of a property.
    fn described(&self, name: &str, property: &'a Value, outer: &Place) -> Place {
        let resolved = self.resolved(property);
        let text = |key: &str| {
            let text = property.get(key).or_else(|| resolved.get(key)).and_then(Value::as_str);
            chars::truncate(text.unwrap_or_default(), MAX_WORDS_CHARS)
        };
        let name = words_of_name(chars::truncate(name, MAX_WORDS_CHARS));
        let texts = [text("title"), text("description")];
        // A field inside another is about that one too. All are about the root, which tells no sentences apart.
        let around = if outer.source.is_some() || outer.pointer.is_empty() { "" } else { &outer.words };
        let words = format!("{name} {} {} {around}", texts[0], texts[1]);
        Place {
            words: chars::truncate(&words, MAX_WORDS_CHARS).to_owned(),
            number: NumberField::of(&name, texts),
            name,
            ..outer.clone()
        }
    }

    fn array(&mut self, object: &'a Map<String, Value>, place: &Place) -> Option<Value> {
        let items = object.get("items")?;
        let limit = |key: &str| object.get(key).and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok());
        let most = limit("maxItems")
            .map_or(ITEMS, |most| most.min(MAX_ITEMS))
            .max(limit("minItems").unwrap_or(0).min(MAX_ITEMS));
        let schema = self.resolved(items);
        let mut list: Vec<Value> = Vec::new();
        if schema.as_object().is_some_and(|object| kind(object) == "object") {
            for source in self.sentences.sources() {
                if list.len() >= most {
                    break;
                }
                let pointer = format!("{}/{}", place.pointer, list.len());
                let before = self.lengths();
                let item = self.value(items, &Place { pointer, source: Some(source), ..place.clone() });
                let is_filled =
                    item.as_ref().is_some_and(|item| self.fields.len() > before[0] && self.is_complete(schema, item));
                match item {
                    Some(item) if is_filled && !list.contains(&item) => list.push(item),
                    _ => self.truncate(before),
                }
            }
        } else {
            for _ in 0..most {
                let pointer = format!("{}/{}", place.pointer, list.len());
                let Some(item) = self.next_item(items, &Place { pointer, ..place.clone() }, &list) else { break };
                list.push(item);
            }
        }
        if list.len() < limit("minItems").unwrap_or(0) {
            self.gap = Some(TOO_FEW);
            return None;
        }
        Some(Value::Array(list))
    }

    fn is_complete(&self, schema: &Value, item: &Value) -> bool {
        let required = schema.get("required").and_then(Value::as_array);
        required.into_iter().flatten().filter_map(Value::as_str).all(|name| item.get(name).is_some())
    }

    /// Returns another value of a list of numbers, dates or options; sentences are never used twice anyway.
    fn next_item(&mut self, items: &'a Value, place: &Place, list: &[Value]) -> Option<Value> {
        let schema = self.resolved(items);
        let object = schema.as_object()?;
        let options = object.get("enum").and_then(Value::as_array);
        let kind = kind(object);
        let is_text = kind == "string" && options.is_none() && !is_date(object);
        if is_text {
            return self.value(items, place).filter(|value| !value.is_null());
        }
        self.spend(1 + options.map_or(0, |options| options.len() / OPTIONS_PER_VALUE))?;
        let read = |text: &str, language: Option<&str>| match (options, kind) {
            (Some(options), _) => values::options_in(text, language, options),
            (None, "string") => dates_in(text, object),
            (None, "number") => values::numbers_in(text, language, &place.number, false),
            (None, "integer") => values::numbers_in(text, language, &place.number, true),
            _ => Vec::new(),
        };
        let rules = value_rules(object);
        for sentence in self.about(place) {
            let found = read(self.sentences.text(sentence.quote), self.sentences.language(sentence.quote));
            let new = found.into_iter().find(|value| {
                !value.is_null() && !list.contains(value) && rules.as_ref().is_none_or(|rules| rules.is_valid(value))
            });
            if let Some(value) = new {
                self.base(place, vec![sentence.quote], None);
                return Some(value);
            }
        }
        None
    }

    fn about(&self, place: &Place) -> Vec<Sentence> {
        let mut found = self.sentences.about(&place.words, place.source);
        let is_general = place.words.split_whitespace().any(|word| GENERAL.contains(&&*word.to_lowercase()));
        if found.is_empty() && place.source.is_none() && (place.required || is_general) {
            found = self.sentences.best().to_vec();
        }
        found
    }

    fn string(&mut self, object: &Map<String, Value>, place: &Place) -> Option<Value> {
        if is_date(object) {
            return self.agreed(place, object, |text, _| dates_in(text, object));
        }
        let sentences = self.about(place);
        if sentences.is_empty() {
            return None;
        }
        let is_address = matches!(object.get("format").and_then(Value::as_str), Some("uri" | "uri-reference" | "iri"));
        let most = object
            .get("maxLength")
            .and_then(Value::as_u64)
            .map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let rules = value_rules(object);
        for sentence in sentences {
            let quote = sentence.quote;
            let text = if is_address {
                self.state.sources[self.state.notes[quote.note].source].canonical_url.clone()
            } else if self.used.iter().any(|known| known.says_the_same(&sentence.gist)) {
                continue;
            } else {
                let line = display::line(self.sentences.text(quote), Format::Text);
                display::truncate(&line, most)
            };
            let fits = rules.as_ref().is_none_or(|rules| rules.is_valid(&Value::String(text.clone())));
            if text.is_empty() || !fits {
                self.gap = Some(UNFIT);
                continue;
            }
            if !is_address {
                self.used.push(sentence.gist.clone());
            }
            let also = self.same(&sentence);
            self.base(place, also, (!is_address).then_some(&*text));
            return Some(Value::String(text));
        }
        None
    }

    /// Returns the sentence and those of other sources that say the same.
    fn same(&self, sentence: &Sentence) -> Vec<Quote> {
        let mut quotes = vec![sentence.quote];
        let source = |quote: Quote| self.state.notes[quote.note].source;
        for other in self.sentences.best() {
            let is_new = quotes.iter().all(|known| source(*known) != source(other.quote));
            if is_new && quotes.len() < MAX_QUOTES && sentence.gist.says_the_same(&other.gist) {
                quotes.push(other.quote);
            }
        }
        quotes
    }

    /// Returns the value on which the best sentences agree, if it keeps the rules of the schema. A sentence with two
    /// values, or with one that is null, is ambiguous. `read` gets the text of a sentence and its language.
    fn agreed(
        &mut self,
        place: &Place,
        schema: &Map<String, Value>,
        read: impl Fn(&str, Option<&str>) -> Vec<Value>,
    ) -> Option<Value> {
        let words = if place.words.trim().is_empty() { self.subject } else { &place.words };
        let sentences = self.sentences.about(words, place.source);
        let mut best: Option<(f64, Value)> = None;
        let mut quotes: Vec<Quote> = Vec::new();
        for sentence in sentences {
            if best.as_ref().is_some_and(|(share, _)| sentence.share < AS_GOOD * share) {
                break;
            }
            let mut found = read(self.sentences.text(sentence.quote), self.sentences.language(sentence.quote));
            found.dedup();
            let value = match found.as_slice() {
                [] => continue,
                [value] if !value.is_null() && best.as_ref().is_none_or(|(_, known)| known == value) => value,
                _ => {
                    self.gap = Some(SEVERAL);
                    return None;
                }
            };
            best.get_or_insert_with(|| (sentence.share, value.clone()));
            if quotes.len() < MAX_QUOTES {
                quotes.push(sentence.quote);
            }
        }
        let (_, value) = best?;
        if value_rules(schema).is_some_and(|rules| !rules.is_valid(&value)) {
            self.gap = Some(UNFIT);
            return None;
        }
        self.base(place, quotes, None);
        Some(value)
    }

    fn base(&mut self, place: &Place, quotes: Vec<Quote>, text: Option<&str>) {
        let confidence = confidence(self.state, &quotes, text);
        self.fields.push(Field { pointer: place.pointer.clone(), quotes, confidence });
    }
}

/// Returns the dates of a sentence in the format of a schema: a time is the beginning of its day.
fn dates_in(text: &str, schema: &Map<String, Value>) -> Vec<Value> {
    let is_time = schema.get("format").and_then(Value::as_str) == Some("date-time");
    let formatted = |date: Value| match date {
        Value::String(date) if is_time => Value::String(format!("{date}T00:00:00Z")),
        other => other,
    };
    values::dates_in(text).into_iter().map(formatted).collect()
}
