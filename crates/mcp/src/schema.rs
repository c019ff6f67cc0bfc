//! The published schemas of bodies as schemas of tools.

use api_types::schemas;
use serde_json::{Map, Value, json};

/// Fields of a request body that are no argument: an editor's annotation, and what is reserved.
const NO_ARGUMENTS: [&str; 2] = ["$schema", "debug"];

/// The schema of a request, for models: everything in place, and an object at the top with no alternatives, which some
/// model APIs refuse there. What the alternatives say, the description of the tool says.
pub(crate) fn input(name: &str) -> Value {
    let Value::Object(mut schema) = published(name) else { return json!({"type": "object"}) };
    let definitions = schema.remove("$defs").unwrap_or_default();
    for keyword in ["$schema", "title", "description", "anyOf"] {
        schema.remove(keyword);
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for name in NO_ARGUMENTS {
            properties.remove(name);
        }
    }
    let mut schema = Value::Object(schema);
    inline(&mut schema, &definitions);
    schema
}

/// The schema of a response, as it is published.
pub(crate) fn output(name: &str) -> Value {
    published(name)
}

/// A name that no body has would be a tool without a schema, which the tests of the table find.
fn published(name: &str) -> Value {
    schemas::json_schema(name).map_or_else(Value::default, Value::from)
}

/// Puts definitions where they are referred to. None of the types contains itself.
fn inline(value: &mut Value, definitions: &Value) {
    if let Value::Object(fields) = value
        && let Some(Value::String(reference)) = fields.remove("$ref")
    {
        let name = reference.rsplit('/').next().unwrap_or_default();
        let definition = definitions.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
        // What stands beside the reference describes this use of it, and wins.
        let beside: Map<_, _> = std::mem::replace(fields, definition);
        fields.extend(beside);
    }
    match value {
        Value::Object(fields) => fields.values_mut().for_each(|field| inline(field, definitions)),
        Value::Array(items) => items.iter_mut().for_each(|item| inline(item, definitions)),
        _ => {}
    }
}
