//! Lenient parsing of requests.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A refused value. `field` is its dotted path in the foreign request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Refusal {
    pub field: String,
    pub message: String,
}

impl Refusal {
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }
}

/// A field that cannot be honoured and must not be ignored.
#[derive(Clone, Copy, Debug)]
pub struct Unsupported {
    /// Dotted path of the field in its object.
    pub field: &'static str,
    /// Reason, as a clause.
    pub reason: &'static str,
}

/// Unsupported fields of one object in a request, or of each object of a list.
#[derive(Clone, Copy, Debug)]
pub struct Refused {
    /// Name of the object or list in the request, empty for the request itself.
    pub object: &'static str,
    pub fields: &'static [Unsupported],
}

impl Refused {
    /// Returns a refusal of the first field that asks for something.
    fn check(&self, body: &Value) -> Result<(), Refusal> {
        let object = if self.object.is_empty() { Some(body) } else { body.get(self.object) };
        let objects = match object {
            None => return Ok(()),
            Some(Value::Array(items)) => items.as_slice(),
            Some(object) => std::slice::from_ref(object),
        };
        let is_demanded = |field: &str| objects.iter().any(|object| find(object, field).is_some_and(demands));
        let demanded = self.fields.iter().find(|unsupported| is_demanded(unsupported.field));
        let Some(Unsupported { field, reason }) = demanded else { return Ok(()) };
        let path = if self.object.is_empty() { (*field).to_owned() } else { format!("{}.{field}", self.object) };
        let message = format!("`{path}` is not supported: {reason}; leave it out");
        Err(Refusal::new(path, message))
    }
}

/// Maximum ages, of which zero is a demand: the page is read again.
const AGES: [&str; 2] = ["maxAge", "maxAgeHours"];

/// Parses a request body. Ignores unknown fields and values that ask for nothing, and refuses the first of `unsupported` that asks
/// for something.
///
/// # Errors
/// Returns a refusal for malformed JSON, a value of a wrong type, and an unsupported field.
pub fn parse<T: DeserializeOwned>(body: &[u8], unsupported: &[Refused]) -> Result<T, Refusal> {
    let body: Map<String, Value> = serde_json::from_slice(body)
        .map_err(|error| Refusal::new("body", format!("the request body must be a JSON object: {error}")))?;
    let mut body = Value::Object(body);
    drop_nothings(&mut body);
    unsupported.iter().try_for_each(|refused| refused.check(&body))?;
    serde_path_to_error::deserialize(body).map_err(|error| {
        let path = error.path().to_string();
        Refusal::new(path.clone(), format!("{path}: {}", error.inner()))
    })
}

fn find<'a>(body: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(body, |value, name| value.get(name))
}

/// Removes values that ask for nothing, at every depth. Some clients send them for every field that they know, of whatever type.
fn drop_nothings(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(drop_nothings);
            fields.retain(|name, value| !is_nothing(value) || (value.is_number() && AGES.contains(&name.as_str())));
        }
        Value::Array(items) => {
            items.iter_mut().for_each(drop_nothings);
            items.retain(|item| !is_nothing(item));
        }
        _ => {}
    }
}

/// Returns true for a value that asks for nothing. An empty object does not count: it may switch something on, with its defaults.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(_) => false,
    }
}

/// Returns true if a value of an unsupported field asks for something. Those that do not are dropped, except for objects.
fn demands(value: &Value) -> bool {
    value.as_object().is_none_or(|fields| fields.values().any(demands))
}

/// A switch that may carry options: `true`, `false` or an object.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a boolean or an object")]
pub(crate) enum Switch<T> {
    Flag(bool),
    Options(T),
}

impl<T: Clone + Default> Switch<T> {
    /// Returns the options if the switch is on.
    pub fn options(switch: &Option<Self>) -> Option<T> {
        match switch {
            None | Some(Switch::Flag(false)) => None,
            Some(Switch::Flag(true)) => Some(T::default()),
            Some(Switch::Options(options)) => Some(options.clone()),
        }
    }
}

/// One text or a list of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a text or a list of texts")]
pub(crate) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl Default for OneOrMany {
    fn default() -> Self {
        OneOrMany::Many(Vec::new())
    }
}

impl OneOrMany {
    pub fn into_vec(self) -> Vec<String> {
        match self {
            OneOrMany::One(text) => vec![text],
            OneOrMany::Many(texts) => texts,
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Asked {
        query: String,
        limit: Option<u32>,
    }

    const UNSUPPORTED: &[Refused] = &[
        Refused { object: "", fields: &[Unsupported { field: "answer", reason: "none" }] },
        Refused { object: "contents", fields: &[Unsupported { field: "summary", reason: "none" }] },
    ];

    fn parsed(body: &Value) -> Result<Asked, Refusal> {
        parse(body.to_string().as_bytes(), UNSUPPORTED)
    }

    #[test]
    fn unknown_fields_and_empty_demands_are_ignored() {
        let body = json!({"query": "x", "limit": null, "new": [1], "answer": false, "contents": {"summary": {}}});
        let asked = parsed(&body).unwrap();
        assert_eq!((asked.query.as_str(), asked.limit), ("x", None));
        for nothing in [json!(null), json!(0), json!(""), json!([]), json!([" ", null]), json!({"a": null})] {
            assert!(parsed(&json!({"query": "x", "answer": nothing})).is_ok());
        }
    }

    #[test]
    fn demands_that_cannot_be_met_are_refused_by_name() {
        for something in [json!(true), json!(1), json!("basic"), json!(["a"]), json!({"prompt": "x"})] {
            let refusal = parsed(&json!({"query": "x", "answer": something})).unwrap_err();
            assert_eq!((refusal.field.as_str(), refusal.message.contains("`answer`")), ("answer", true));
        }
        let refusal = parsed(&json!({"query": "x", "contents": {"summary": true}})).unwrap_err();
        assert_eq!(refusal.field, "contents.summary");
    }

    #[test]
    fn malformed_bodies_are_refused() {
        for body in ["", "[]", "null", "{\"query\"", "{} {}", &"[".repeat(100_000)] {
            assert_eq!(parse::<Asked>(body.as_bytes(), UNSUPPORTED).unwrap_err().field, "body", "{body:.20}");
        }
        assert!(parsed(&json!({})).unwrap_err().message.contains("query"));
        assert_eq!(parsed(&json!({"query": "x", "limit": "y"})).unwrap_err().field, "limit");
    }
}
