//! Structured reports: JSON that a schema of the caller describes.

mod fill;
mod limits;
mod model;
mod sentences;
mod values;

use serde_json::Value;

use super::assignment::Assignment;
use super::report::quotes::Quote;
use super::report::{Confidence, quotes};
use super::report::{Draft, Engine, Problem};
use super::state::{State, Written};
use super::text::similar::Gist;
use fill::Filler;

pub use limits::{InvalidSchema, MAX_DEPTH, MAX_SCHEMA_BYTES, MAX_SUBSCHEMAS, validate_schema};

/// Problems that are reported.
const MAX_PROBLEMS: usize = 20;

/// Fills the schema: with the model's answer if it is valid, otherwise by rules.
pub(super) fn draft(state: &State, assignment: &Assignment, schema: &Value) -> Draft {
    let validator = match limits::validator(schema) {
        Ok(validator) => validator,
        Err(error) => return empty(vec![Problem { field: error.field, message: error.message }]),
    };
    if let Some(Written::Structured { value, basis }) = &state.written {
        let (value, fields) = model::supported(state, value, basis, &validator);
        let has_content = !fields.is_empty();
        if has_content && validator.is_valid(&value) {
            return from_fields(assignment, value, fields, Engine::Model);
        }
    }
    let mut filler = Filler::new(state, schema);
    let value = filler.fill(&assignment.query);
    let fields = std::mem::take(&mut filler.fields);
    let problems = match &value {
        Some(value) => problems(&validator, value),
        None => vec![Problem { field: String::new(), message: "the sources do not fill the schema".to_owned() }],
    };
    if problems.is_empty()
        && let Some(value) = value
    {
        return from_fields(assignment, value, fields, Engine::Extractive);
    }
    empty(problems)
}

fn problems(validator: &jsonschema::Validator, value: &Value) -> Vec<Problem> {
    let problem = |error: jsonschema::ValidationError<'_>| Problem {
        field: error.instance_path().to_string(),
        message: error.masked().to_string(),
    };
    validator.iter_errors(value).take(MAX_PROBLEMS).map(problem).collect()
}

fn empty(problems: Vec<Problem>) -> Draft {
    Draft {
        text: String::new(),
        structured: None,
        truncated: false,
        engine: Engine::Extractive,
        quotes: Vec::new(),
        basis: Vec::new(),
        problems,
    }
}

/// A field of the result and the quotes that it is based on.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub pointer: String,
    pub quotes: Vec<Quote>,
    pub confidence: Confidence,
}

fn from_fields(assignment: &Assignment, value: Value, fields: Vec<Field>, engine: Engine) -> Draft {
    let mut cited: Vec<Quote> = Vec::new();
    let mut basis = Vec::new();
    for field in fields {
        let mut positions = Vec::new();
        for quote in field.quotes {
            let at = cited.iter().position(|known| *known == quote).unwrap_or_else(|| {
                cited.push(quote);
                cited.len() - 1
            });
            positions.push(at);
        }
        basis.push((field.pointer, positions, field.confidence));
    }
    let length = retrieval_core::chars::count(&value.to_string());
    if length > assignment.output.max_chars {
        let message = format!("the result has {length} characters; `max_chars` is {}", assignment.output.max_chars);
        let mut draft = empty(vec![Problem { field: String::new(), message }]);
        draft.truncated = true;
        return draft;
    }
    Draft {
        text: String::new(),
        structured: Some(value),
        truncated: false,
        engine,
        quotes: cited.into_iter().map(|quote| (quote, None)).collect(),
        basis,
        problems: Vec::new(),
    }
}

/// Confidence by the number of independent sources of the quotes.
fn confidence(state: &State, quotes: &[Quote], statement: Option<&str>) -> Confidence {
    let mut sources: Vec<usize> = Vec::new();
    for quote in quotes {
        let note = &state.notes[quote.note];
        sources.push(note.source);
        sources.extend(&note.also_in);
    }
    sources.sort_unstable();
    sources.dedup();
    let supported = statement.is_none_or(|statement| {
        let gist = Gist::of(statement);
        quotes.iter().any(|quote| gist.resemblance(&Gist::of(quotes::text(state, *quote))) >= 0.3)
    });
    match (sources.len(), supported) {
        (0 | 1, false) => Confidence::Low,
        (0 | 1, true) | (_, false) => Confidence::Medium,
        (_, true) => Confidence::High,
    }
}
