//! Facts about one schema that decide how it is filled.

use std::collections::BTreeSet;

use jsonschema::Validator;
use serde_json::{Map, Value};

use super::limits::validator;

/// Returns the type of a schema; the first one that is not null.
pub(super) fn kind(object: &Map<String, Value>) -> &str {
    match object.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("null")
        }
        _ if object.contains_key("properties") || object.contains_key("allOf") => "object",
        _ if object.contains_key("items") => "array",
        _ => "string",
    }
}

/// Returns the names of all properties that a schema and its subschemas declare.
pub(super) fn declared_names(schema: &Value) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    add_declared_names(schema, &mut names);
    names
}

fn add_declared_names<'a>(part: &'a Value, names: &mut BTreeSet<&'a str>) {
    match part {
        Value::Object(object) => {
            for (key, value) in object {
                if let ("properties", Some(properties)) = (key.as_str(), value.as_object()) {
                    names.extend(properties.keys().map(String::as_str));
                }
                add_declared_names(value, names);
            }
        }
        Value::Array(list) => list.iter().for_each(|item| add_declared_names(item, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns true if null is valid.
pub(super) fn allows_null(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::String(kind)) => kind == "null",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "null"),
        _ => false,
    }
}

/// Returns true for a text that is a date or a time.
pub(super) fn is_date(object: &Map<String, Value>) -> bool {
    matches!(object.get("format").and_then(Value::as_str), Some("date" | "date-time"))
}

/// Keywords about texts and numbers.
const RULES: [&str; 9] = [
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
];

/// Returns the rules for a text or a number that a choice of sentences can keep; `None` if there are none.
pub(super) fn value_rules(object: &Map<String, Value>) -> Option<Validator> {
    let mut rules = Map::new();
    for key in RULES {
        if let Some(rule) = object.get(key) {
            rules.insert(key.to_owned(), rule.clone());
        }
    }
    if rules.is_empty() { None } else { validator(&Value::Object(rules)).ok() }
}
