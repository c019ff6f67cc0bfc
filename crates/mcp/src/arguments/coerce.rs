//! Conversion of a value to what a JSON Schema describes.

use serde_json::{Map, Number, Value};

use crate::Failure;

/// Longest echo of an argument's name, in characters.
const MAX_NAME: usize = 60;

/// Treatment of unknown arguments.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Unknown {
    /// Ignored with a note.
    Note,
    /// Refused, because a call that has lasting effects may mean something else.
    Refuse,
}

/// Converts `value` as far as its meaning is clear. What remains wrong is left to the strict reader. `path` is empty for
/// the arguments as a whole.
///
/// # Errors
/// An unknown argument that must not be ignored.
pub(crate) fn coerce(
    value: Value,
    schema: &Value,
    path: &str,
    unknown: Unknown,
    notes: &mut Vec<String>,
) -> Result<Value, Failure> {
    Ok(match type_of(schema) {
        "object" => match (parsed(value), schema.get("properties")) {
            (Value::Object(fields), Some(Value::Object(properties))) => {
                Value::Object(object(fields, properties, path, unknown, notes)?)
            }
            (value, _) => value,
        },
        "array" => {
            let Some(items) = schema.get("items") else { return Ok(value) };
            let coerced = list(value, items).into_iter().filter(|item| !item.is_null());
            let coerced: Result<_, Failure> = coerced.map(|item| coerce(item, items, path, unknown, notes)).collect();
            Value::Array(coerced?)
        }
        "integer" => integer(value, schema, path, notes),
        "boolean" => boolean(value),
        "string" => string(value, schema),
        _ => value,
    })
}

/// Returns the value that a string of JSON stands for, if that is an object or a list.
pub(crate) fn parsed(value: Value) -> Value {
    match &value {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            serde_json::from_str(text.trim()).unwrap_or(value)
        }
        _ => value,
    }
}

/// Returns the type of a schema; nullable types count as their other type.
fn type_of(schema: &Value) -> &str {
    match &schema["type"] {
        Value::String(name) => name,
        Value::Array(names) => names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or_default(),
        _ => "",
    }
}

fn object(
    fields: Map<String, Value>,
    properties: &Map<String, Value>,
    path: &str,
    unknown: Unknown,
    notes: &mut Vec<String>,
) -> Result<Map<String, Value>, Failure> {
    let mut coerced = Map::new();
    for (name, value) in fields {
        // Absent, as many clients write it.
        if value.is_null() {
            continue;
        }
        let short: String = name.chars().take(MAX_NAME).collect();
        let here = if path.is_empty() { short } else { format!("{path}.{short}") };
        match properties.get(&name) {
            Some(schema) => {
                coerced.insert(name, coerce(value, schema, &here, unknown, notes)?);
            }
            None if super::schema::NO_ARGUMENTS.contains(&name.as_str()) => {}
            None if unknown == Unknown::Refuse => {
                return Err(Failure::invalid(here.clone(), format!("{here} is not an argument of this tool")));
            }
            None => notes.push(format!("ignored the unknown argument `{here}`")),
        }
    }
    Ok(coerced)
}

/// Returns a list: one value stands for a list of it, and words may be separated by commas.
fn list(value: Value, items: &Value) -> Vec<Value> {
    match parsed(value) {
        Value::Array(values) => values,
        // Texts such as queries may contain commas themselves.
        Value::String(text) if ["enum", "format", "anyOf"].iter().any(|name| items.get(name).is_some()) => {
            text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(Value::from).collect()
        }
        other => vec![other],
    }
}

/// Returns an integer within the bounds of its schema.
fn integer(value: Value, schema: &Value, path: &str, notes: &mut Vec<String>) -> Value {
    let given = match &value {
        Value::String(text) => text.trim().parse::<i64>().ok().or_else(|| whole(text.trim().parse().ok()?)),
        Value::Number(number) => number.as_i64().or_else(|| whole(number.as_f64()?)),
        _ => None,
    };
    let Some(given) = given else { return value };
    let bound = |name: &str| schema.get(name).and_then(Value::as_i64);
    let least = bound("minimum").unwrap_or(i64::MIN);
    let most = bound("maximum").unwrap_or(i64::MAX);
    let within = given.clamp(least, most.max(least));
    if within != given {
        notes.push(format!("`{path}` was set to {within}: {given} is out of range"));
    }
    within.into()
}

/// Returns a number without a fraction, at the end of the range if it lies beyond.
fn whole(number: f64) -> Option<i64> {
    (number.is_finite() && number.fract() == 0.0).then_some(number as i64)
}

fn boolean(value: Value) -> Value {
    let given = match &value {
        Value::String(text) => text.trim().to_ascii_lowercase(),
        Value::Number(number) => number.to_string(),
        _ => return value,
    };
    match given.as_str() {
        "true" | "1" | "yes" => true.into(),
        "false" | "0" | "no" => false.into(),
        _ => value,
    }
}

fn string(value: Value, schema: &Value) -> Value {
    match value {
        Value::Number(number) => Value::String(Number::to_string(&number)),
        Value::Array(mut values) if values.len() == 1 && values[0].is_string() => string(values.remove(0), schema),
        Value::String(text) => {
            if let Some(Value::Array(words)) = schema.get("enum") {
                let word = text.trim().to_lowercase().replace(['-', ' '], "_");
                let known = words.iter().find(|known| known.as_str() == Some(&word));
                return known.cloned().unwrap_or(Value::String(text));
            }
            // Ids, addresses and times have no blanks around them.
            let is_free = schema.get("format").is_none() && schema.get("anyOf").is_none();
            Value::String(if is_free { text } else { text.trim().to_owned() })
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use serde_json::json;

    use super::*;

    fn check(schema: &Value, value: Value, expected: Value) {
        let mut notes = Vec::new();
        let coerced = coerce(value.clone(), schema, "x", Unknown::Note, &mut notes).unwrap();
        assert_eq!(coerced, expected, "{value}");
    }

    #[test]
    fn integers_are_read_from_strings_and_clamped() {
        let schema = json!({"type": "integer", "minimum": 1, "maximum": 50});
        for (value, expected) in [
            (json!("3"), json!(3)),
            (json!(" 3.0 "), json!(3)),
            (json!(7.0), json!(7)),
            (json!(0), json!(1)),
            (json!(-1), json!(1)),
            (json!("99999999999999999999999"), json!(50)),
            (json!(1e300), json!(50)),
            (json!("three"), json!("three")),
            (json!(2.5), json!(2.5)),
            (json!("NaN"), json!("NaN")),
            (json!([3]), json!([3])),
        ] {
            check(&schema, value, expected);
        }
    }

    #[test]
    fn one_value_stands_for_a_list() {
        let words = json!({"type": ["array", "null"], "items": {"type": "string", "enum": ["web", "workspace"]}});
        for value in [json!("web, Workspace"), json!(["WEB", "workspace"]), json!("[\"web\", \"workspace\"]")] {
            check(&words, value, json!(["web", "workspace"]));
        }
        let texts = json!({"type": "array", "items": {"type": "string"}});
        check(&texts, json!("one, two"), json!(["one, two"]));
        check(&texts, json!(["a", null, 5]), json!(["a", "5"]));
        check(&texts, json!("[unclosed"), json!(["[unclosed"]));
    }

    #[test]
    fn booleans_and_strings_are_read_from_their_spellings() {
        let schema = json!({"type": "boolean"});
        for (value, expected) in
            [(json!("True"), json!(true)), (json!(0), json!(false)), (json!("maybe"), json!("maybe"))]
        {
            check(&schema, value, expected);
        }
        check(&json!({"type": "string"}), json!(2024), json!("2024"));
        check(&json!({"type": "string"}), json!([" x"]), json!(" x"));
        check(&json!({"type": "string", "format": "uuid"}), json!(" x "), json!("x"));
        check(&json!({"type": "string"}), json!({"a": 1}), json!({"a": 1}));
    }

    #[test]
    fn unknown_fields_are_noted_or_refused() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "object", "properties": {}}}});
        let value = json!({"a": "{\"b\": 1}", "c": null, "$schema": "x", "d": 2});
        let mut notes = Vec::new();
        let coerced = coerce(value.clone(), &schema, "", Unknown::Note, &mut notes).unwrap();
        assert_eq!(coerced, json!({"a": {}}));
        assert_eq!(notes, ["ignored the unknown argument `a.b`", "ignored the unknown argument `d`"]);
        let refused = coerce(json!({"d": 2}), &schema, "", Unknown::Refuse, &mut notes).unwrap_err();
        assert_eq!(refused.error.details["field"], "d");
    }
}
