//! Names of arguments: the flat names of the tools' schemas and common other ones, with their place in the request.

use api_types::validation::parse_uuid;
use serde_json::{Map, Value};

use super::coerce::parsed;
use crate::Failure;

/// A name, and the dotted path of the field that it means.
pub(crate) type Alias = (&'static str, &'static str);

pub(super) const SEARCH: &[Alias] = &[
    ("q", "query"),
    ("limit", "max_results"),
    ("count", "max_results"),
    ("num_results", "max_results"),
    ("queries", "search_queries"),
    ("max_chars", "response.budget.max_chars_total"),
    ("verbosity", "response.verbosity"),
    ("indexes", "scope.indexes"),
    ("index", "scope.indexes"),
    ("workspace_id", "scope.workspace_id"),
    ("include_domains", "source_policy.include_domains"),
    ("exclude_domains", "source_policy.exclude_domains"),
    ("require_domain_match", "source_policy.require_domain_match"),
    ("published_after", "freshness_policy.published_after"),
    ("published_before", "freshness_policy.published_before"),
    ("freshness", "freshness_policy.freshness"),
    ("max_passages", "response.max_passages_per_result"),
    ("max_passages_per_result", "response.max_passages_per_result"),
    ("language", "filters.language"),
    ("country", "filters.country"),
    ("exact_match", "filters.exact_match"),
    ("labels", "filters.labels"),
];

pub(super) const DOCUMENT: &[Alias] = &[
    ("url", "canonical_url"),
    ("uri", "canonical_url"),
    ("id", "doc_id"),
    ("document_id", "doc_id"),
    ("max_chars", "content.max_chars"),
    ("max_passages", "content.max_passages"),
    ("max_age", "max_age_seconds"),
    ("selection", "content.selection"),
    ("format", "content.format"),
    ("include_offsets", "content.include_offsets"),
    ("passage_ids", "content.passage_ids"),
    ("start_char", "content.range.start_char"),
];

pub(super) const RESEARCH: &[Alias] = &[
    ("q", "query"),
    ("question", "query"),
    ("indexes", "scope.indexes"),
    ("index", "scope.indexes"),
    ("workspace_id", "scope.workspace_id"),
    ("include_domains", "source_policy.include_domains"),
    ("exclude_domains", "source_policy.exclude_domains"),
    ("require_domain_match", "source_policy.require_domain_match"),
    ("published_after", "freshness_policy.published_after"),
    ("published_before", "freshness_policy.published_before"),
    ("freshness", "freshness_policy.freshness"),
    ("language", "filters.language"),
    ("country", "filters.country"),
    ("labels", "filters.labels"),
    ("format", "output.format"),
    ("schema", "output.schema"),
    ("max_chars", "output.max_chars"),
    ("max_searches", "budget.max_searches"),
    ("max_documents", "budget.max_documents"),
    ("max_seconds", "budget.max_seconds"),
];

pub(crate) const RESEARCH_GET: &[Alias] = &[("id", "research_id"), ("run_id", "research_id"), ("wait", "wait_seconds")];

pub(super) const FEEDBACK: &[Alias] = &[
    ("event", "event_type"),
    ("type", "event_type"),
    ("id", "doc_id"),
    ("document_id", "doc_id"),
    ("client_model", "agent_context.client_model"),
];

pub(crate) const UPLOAD: &[Alias] =
    &[("filename", "name"), ("file_name", "name"), ("content", "text"), ("contents", "text")];

/// Moves arguments to the fields that they mean, unless the request itself has a field of the name. Returns the aliases
/// that were used.
pub(super) fn resolve(arguments: &mut Map<String, Value>, aliases: &[Alias], schema: &Value) -> Vec<Alias> {
    let mut used = Vec::new();
    for alias @ (name, path) in aliases {
        if schema["properties"].get(name).is_some() {
            continue;
        }
        let Some(value) = arguments.remove(*name).filter(|value| !value.is_null()) else { continue };
        place(arguments, path, value);
        used.push(*alias);
    }
    used
}

/// Inserts a value at a path, unless there is one.
fn place(fields: &mut Map<String, Value>, path: &str, value: Value) {
    let Some((parent, rest)) = path.split_once('.') else {
        let field = fields.entry(path).or_insert(Value::Null);
        if field.is_null() {
            *field = value;
        }
        return;
    };
    let entry = fields.entry(parent).or_insert(Value::Null);
    *entry = match parsed(entry.take()) {
        Value::Null => Value::Object(Map::new()),
        other => other,
    };
    // Anything but an object is refused later, under its own name.
    if let Value::Object(fields) = entry {
        place(fields, rest, value);
    }
}

/// Tells ids from addresses: models confuse the two arguments. An address without a scheme gets `https`.
pub(super) fn separate_id_and_url(arguments: &mut Map<String, Value>) {
    const IDS: [&str; 3] = ["doc_id", "document_id", "id"];
    const URLS: [&str; 3] = ["canonical_url", "url", "uri"];
    let texts = |names: [&str; 3], arguments: &Map<String, Value>| {
        names.into_iter().find_map(|name| arguments.get(name)?.as_str().map(|text| text.trim().to_owned()))
    };
    let (id, url) = (texts(IDS, arguments), texts(URLS, arguments));
    let swapped = match (&id, &url) {
        (Some(id), None) if id.contains("://") => Some(("canonical_url", id.clone())),
        (None, Some(url)) if parse_uuid(url).is_some() => Some(("doc_id", url.clone())),
        (None, Some(url)) if is_bare_address(url) => Some(("canonical_url", format!("https://{url}"))),
        _ => None,
    };
    if let Some((name, value)) = swapped {
        for name in IDS.into_iter().chain(URLS) {
            arguments.remove(name);
        }
        arguments.insert(name.to_owned(), value.into());
    }
}

/// True for `example.com/page` and `example.com:8443/page`. What follows the colon of a scheme is no port.
fn is_bare_address(text: &str) -> bool {
    let authority = text.split(['/', '?', '#']).next().unwrap_or_default();
    let (host, port) = authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)));
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    host.contains('.') && !host.starts_with('.') && port.is_none_or(is_port) && !text.contains(char::is_whitespace)
}

/// Names the invalid argument as the model wrote it.
pub(crate) fn as_written(mut failure: Failure, used: &[Alias]) -> Failure {
    let field = failure.error.details.get("field").and_then(Value::as_str).unwrap_or_default().to_owned();
    if let Some((name, path)) = used.iter().find(|(_, path)| field == *path) {
        if let Some(rest) = failure.error.message.strip_prefix(path) {
            failure.error.message = format!("{name}{rest}");
        }
        failure = failure.with("field", *name);
    }
    failure
}

/// Replaces a field's path in a note by the name that the model wrote.
pub(super) fn in_note(note: String, used: &[Alias]) -> String {
    let named = used.iter().find(|(_, path)| note.contains(&format!("`{path}`")));
    named.map_or(note.clone(), |(name, path)| note.replace(&format!("`{path}`"), &format!("`{name}`")))
}
