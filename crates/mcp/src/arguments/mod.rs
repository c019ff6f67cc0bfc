//! Arguments of tools. Models write them with other names, types and ranges than the API has: everything whose meaning is
//! clear is converted, with a note where the call differs from what was written.

mod coerce;
mod names;
mod schema;

use api_types::validation::{field_of, first_violation};
use api_types::{DocumentRequest, FeedbackRequest, ResearchRequest, SearchRequest};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use validator::Validate;

use self::coerce::coerce;
use self::names::Alias;
use crate::Failure;

pub(crate) use self::coerce::Unknown;
pub(crate) use self::names::{RESEARCH_GET, UPLOAD, as_written};

/// Longest echo of a caller's text, in characters.
const MAX_ECHO: usize = 500;

/// A request as understood.
#[derive(Debug)]
pub(crate) struct Given<T> {
    pub request: T,
    /// Differences from what was written, for the model.
    pub notes: Vec<String>,
}

pub(crate) fn search(arguments: Value) -> Result<Given<SearchRequest>, Failure> {
    body(object(arguments)?, names::SEARCH, &schema::SEARCH, |_| {})
}

pub(crate) fn document(arguments: Value) -> Result<Given<DocumentRequest>, Failure> {
    let mut arguments = object(arguments)?;
    names::separate_id_and_url(&mut arguments);
    body(arguments, names::DOCUMENT, &schema::DOCUMENT, derive_selection)
}

pub(crate) fn research(arguments: Value) -> Result<Given<ResearchRequest>, Failure> {
    body(object(arguments)?, names::RESEARCH, &schema::RESEARCH, derive_format)
}

pub(crate) fn feedback(arguments: Value) -> Result<Given<FeedbackRequest>, Failure> {
    body(object(arguments)?, names::FEEDBACK, &schema::FEEDBACK, |_| {})
}

/// Reads the arguments of a tool without an API request of its own.
pub(crate) fn own<T: DeserializeOwned>(
    arguments: Value,
    aliases: &[Alias],
    schema: &Value,
    unknown: Unknown,
) -> Result<Given<T>, Failure> {
    let (arguments, notes, renamed) = understand(object(arguments)?, aliases, schema, unknown)?;
    let request = parse(arguments).map_err(|failure| names::as_written(failure, &renamed))?;
    Ok(Given { request, notes })
}

/// Adds the selection that the other arguments of a read imply, unless they choose the text themselves.
fn derive_selection(request: &mut Value) {
    let content = &request["content"];
    let chosen = ["selection", "range"].iter().any(|name| content.get(name).is_some());
    if chosen || request.get("include").is_some() || !(content.is_null() || content.is_object()) {
        return;
    }
    if content["passage_ids"].as_array().is_some_and(|ids| !ids.is_empty()) {
        request["content"]["selection"] = "passage_ids".into();
    } else if request["query"].as_str().is_some_and(|query| !query.trim().is_empty()) {
        request["content"]["selection"] = "query_relevant".into();
    }
}

/// Adds the format that the schema of a report implies.
fn derive_format(request: &mut Value) {
    let output = &request["output"];
    if output["schema"].is_object() && output.get("format").is_none() {
        request["output"]["format"] = "structured".into();
    }
}

/// Reads the body of a request, in which an unknown argument has no effect. `complete` adds what the arguments imply.
fn body<T: DeserializeOwned + Validate>(
    arguments: Map<String, Value>,
    aliases: &[Alias],
    schema: &Value,
    complete: impl FnOnce(&mut Value),
) -> Result<Given<T>, Failure> {
    let (mut arguments, notes, renamed) = understand(arguments, aliases, schema, Unknown::Note)?;
    complete(&mut arguments);
    let read = || {
        let request: T = parse(arguments)?;
        check(&request)?;
        Ok(request)
    };
    let request = read().map_err(|failure| names::as_written(failure, &renamed))?;
    Ok(Given { request, notes })
}

/// Converts arguments to what `schema` describes. Also returns notes and the aliases that were used.
fn understand(
    mut arguments: Map<String, Value>,
    aliases: &[Alias],
    schema: &Value,
    unknown: Unknown,
) -> Result<(Value, Vec<String>, Vec<Alias>), Failure> {
    let renamed = names::resolve(&mut arguments, aliases, schema);
    let mut notes = Vec::new();
    let coerced = coerce(Value::Object(arguments), schema, "", unknown, &mut notes)?;
    let notes = notes.into_iter().map(|note| names::in_note(note, &renamed)).collect();
    Ok((coerced, notes, renamed))
}

/// Returns the arguments as an object. Some clients send it as a string of JSON.
fn object(arguments: Value) -> Result<Map<String, Value>, Failure> {
    match coerce::parsed(arguments) {
        Value::Object(arguments) => Ok(arguments),
        _ => Err(Failure::invalid("arguments", "arguments must be an object")),
    }
}

/// Checks the rules of the fields.
pub(crate) fn check(request: &impl Validate) -> Result<(), Failure> {
    match first_violation(request) {
        None => Ok(()),
        Some(violation) => Err(Failure::invalid(violation.field, violation.message)),
    }
}

/// Reads arguments strictly, with the messages of the API.
pub(crate) fn parse<T: DeserializeOwned>(arguments: Value) -> Result<T, Failure> {
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let text: String = error.inner().to_string().chars().take(MAX_ECHO).collect();
        let field = field_of(&error.path().to_string(), &text).unwrap_or_else(|| "arguments".to_owned());
        Failure::invalid(field.clone(), format!("{field}: {text}")).with("error", text)
    })
}
