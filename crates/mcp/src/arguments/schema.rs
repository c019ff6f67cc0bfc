//! Schemas that arguments are converted to, derived from the published schemas of request bodies.

use std::sync::LazyLock;

use api_types::{DocumentRequest, FeedbackRequest, RequestBody, ResearchRequest, SearchRequest, schemas};
use serde_json::{Value, json};

/// Fields of request bodies that are not arguments: an editor's annotation, and a reserved field.
pub(super) const NO_ARGUMENTS: [&str; 2] = ["$schema", "debug"];

pub(super) static SEARCH: LazyLock<Value> = LazyLock::new(of::<SearchRequest>);
pub(super) static DOCUMENT: LazyLock<Value> = LazyLock::new(of::<DocumentRequest>);
pub(super) static RESEARCH: LazyLock<Value> = LazyLock::new(of::<ResearchRequest>);
pub(super) static FEEDBACK: LazyLock<Value> = LazyLock::new(of::<FeedbackRequest>);

/// Returns the schema of a request without references.
fn of<T: RequestBody>() -> Value {
    let name = T::NAME.unwrap_or_default();
    let mut schema = schemas::json_schema(name).map_or_else(|| json!({"type": "object"}), Value::from);
    let definitions = schema["$defs"].take();
    if let Some(properties) = schema["properties"].as_object_mut() {
        for name in NO_ARGUMENTS {
            properties.remove(name);
        }
    }
    inline(&mut schema, &definitions);
    schema
}

/// Replaces references by their definitions. No type contains itself.
fn inline(value: &mut Value, definitions: &Value) {
    if let Value::Object(fields) = value
        && let Some(Value::String(reference)) = fields.remove("$ref")
    {
        let name = reference.rsplit('/').next().unwrap_or_default();
        let definition = definitions.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
        // Keywords beside the reference describe this use and take precedence.
        let beside = std::mem::replace(fields, definition);
        fields.extend(beside);
    }
    match value {
        Value::Object(fields) => fields.values_mut().for_each(|field| inline(field, definitions)),
        Value::Array(items) => items.iter_mut().for_each(|item| inline(item, definitions)),
        _ => {}
    }
}
