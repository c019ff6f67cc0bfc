//! Tool schemas, derived from the published schemas of bodies.

use api_types::{RequestBody, ResponseBody, schemas};
use serde_json::{Map, Value, json};

/// Fields of request bodies that are not arguments: an editor's annotation, and a reserved field.
const NO_ARGUMENTS: [&str; 2] = ["$schema", "debug"];

/// Returns the schema of a request, for models: without references, and without alternatives at the top level, which
/// some model APIs refuse. The description of the tool states the alternatives.
pub(crate) fn input<T: RequestBody>() -> Value {
    let Value::Object(mut schema) = published(T::NAME.unwrap_or_default()) else { return json!({"type": "object"}) };
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

/// Returns the published schema of a response.
pub(crate) fn output<T: ResponseBody>() -> Value {
    published(T::NAME)
}

fn published(name: &str) -> Value {
    schemas::json_schema(name).map_or_else(Value::default, Value::from)
}

/// Replaces references by their definitions. No type contains itself.
fn inline(value: &mut Value, definitions: &Value) {
    if let Value::Object(fields) = value
        && let Some(Value::String(reference)) = fields.remove("$ref")
    {
        let name = reference.rsplit('/').next().unwrap_or_default();
        let definition = definitions.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
        // Keywords beside the reference describe this use and take precedence.
        let beside: Map<_, _> = std::mem::replace(fields, definition);
        fields.extend(beside);
    }
    match value {
        Value::Object(fields) => fields.values_mut().for_each(|field| inline(field, definitions)),
        Value::Array(items) => items.iter_mut().for_each(|item| inline(item, definitions)),
        _ => {}
    }
}
