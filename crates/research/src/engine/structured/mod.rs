//! Structured reports: JSON that a schema of the caller describes.

mod field;
mod fill;
mod limits;
mod model;
mod negations;
mod number_field;
mod sentences;
mod shape;
mod values;

use serde_json::Value;

use super::assignment::Assignment;
use super::quotes::Quote;
use super::quotes::draft::Draft;
use super::result::{Engine, Problem};
use super::state::{State, Written};
use field::Field;
use fill::Filler;

pub use limits::{InvalidSchema, MAX_DEPTH, MAX_PATTERNS, MAX_SCHEMA_BYTES, MAX_SUBSCHEMAS, validate_schema};

/// Problems that are reported.
const MAX_PROBLEMS: usize = 20;

/// Fills the schema: with the model's answer if it is valid, otherwise by rules.
pub(super) fn draft(state: &State, assignment: &Assignment, schema: &Value) -> Draft {
    let validator = match limits::validator(schema) {
        Ok(validator) => validator,
        Err(error) => return empty(vec![Problem { field: error.field, message: error.message }]),
    };
    if let Some(Written::Structured { value, basis, truncated }) = &state.written {
        let (value, fields) = model::supported(state, value, basis, schema, &validator);
        let has_content = !fields.is_empty();
        if has_content && validator.is_valid(&value) {
            let mut draft = from_fields(assignment, value, fields, Engine::Model, Vec::new());
            draft.truncated |= truncated;
            return draft;
        }
    }
    let mut filler = Filler::new(state, schema, &assignment.query);
    let value = filler.fill();
    let Filler { fields, problems: gaps, .. } = filler;
    let mut problems = match &value {
        Some(value) => problems(&validator, value),
        None => vec![Problem { field: String::new(), message: "the sources do not fill the schema".to_owned() }],
    };
    let is_valid = problems.is_empty();
    problems.extend(gaps);
    problems.truncate(MAX_PROBLEMS);
    match value {
        Some(value) if is_valid => from_fields(assignment, value, fields, Engine::Extractive, problems),
        _ => empty(problems),
    }
}

fn problems(validator: &jsonschema::Validator, value: &Value) -> Vec<Problem> {
    // Far cheaper than the errors, all of which are collected before the first is known.
    if validator.is_valid(value) {
        return Vec::new();
    }
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

/// `problems`: those of fields without a value.
fn from_fields(
    assignment: &Assignment,
    value: Value,
    fields: Vec<Field>,
    engine: Engine,
    problems: Vec<Problem>,
) -> Draft {
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
        problems,
    }
}
