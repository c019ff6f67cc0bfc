//! Lists of the fields of a schema.

use serde_json::Value;

use super::markup::{escape, inline};
use super::{entries, follow, items, text};

/// Deeper than any body; bounds a recursive schema.
const MAX_DEPTH: usize = 8;

/// Renders the fields of an object schema: required ones first, nested objects below their field.
pub(super) fn list(document: &Value, schema: &Value) -> String {
    nested(document, schema, 0)
}

fn nested(document: &Value, schema: &Value, depth: usize) -> String {
    let schema = follow(document, schema);
    let required = items(schema, "required");
    let mut fields: Vec<_> = entries(schema, "properties")
        .map(|(name, field)| (!required.contains(&name.as_str().into()), name, field))
        .collect();
    if fields.is_empty() || depth == MAX_DEPTH {
        return String::new();
    }
    // Annotations come last, whatever their name.
    fields.sort_by_key(|(optional, name, _)| (name.starts_with('$'), *optional));
    let items: String = fields
        .into_iter()
        .map(|(optional, name, field)| {
            let below = nested(document, element(document, field), depth + 1);
            let below = match below.is_empty() {
                true => below,
                false => format!(
                    "<details{}><summary>Fields of <code>{}</code></summary>\n{below}</details>\n",
                    if depth == 0 { " open" } else { "" },
                    escape(name)
                ),
            };
            format!("<li>{}{below}</li>\n", line(document, name, field, !optional))
        })
        .collect();
    format!("<ul class=\"fields\">\n{items}</ul>\n")
}

/// Renders one field or parameter: name, type, required or not, description, values.
pub(super) fn line(document: &Value, name: &str, field: &Value, required: bool) -> String {
    let mark = if required { "<span class=\"required\">required</span>" } else { "" };
    let target = follow(document, field);
    let description = match text(field, "description") {
        "" => text(target, "description"),
        own => own,
    };
    format!(
        "<div class=\"field\"><code class=\"name\">{}</code> <span class=\"type\">{}</span> {mark}</div>\n\
         <div class=\"about\">{}{}</div>\n",
        escape(name),
        escape(&kind(document, field)),
        inline(description),
        words(element(document, field)),
    )
}

/// Returns the innermost element type of lists and maps; other schemas are their own element.
fn element<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let schema = follow(document, schema);
    match schema.get("items").or_else(|| values(schema)) {
        Some(inner) => element(document, inner),
        None => schema,
    }
}

/// Returns the schema of a map's values; `None` for objects with fields of their own and for maps to anything.
fn values(schema: &Value) -> Option<&Value> {
    schema.get("additionalProperties").filter(|values| values.is_object() && schema.get("properties").is_none())
}

/// Describes the type, such as `array of string (uuid), at most 50 items or null`.
fn kind(document: &Value, field: &Value) -> String {
    let schema = follow(document, field);
    let (mut base, nullable) = match &schema["type"] {
        Value::Array(types) => {
            let named = types.iter().find(|name| *name != "null").and_then(Value::as_str);
            (named.unwrap_or("any").to_owned(), types.iter().any(|name| name == "null"))
        }
        Value::String(name) => (name.clone(), items(field, "anyOf").iter().any(|one| one["type"] == "null")),
        _ => ("any".to_owned(), false),
    };
    if let Some(items) = schema.get("items") {
        base = format!("array of {}", kind(document, items));
    } else if let Some(values) = values(schema) {
        base = format!("map to {}", kind(document, values));
    }
    let formats: Vec<&str> = std::iter::once(schema)
        .chain(items(schema, "anyOf"))
        .map(|alternative| text(alternative, "format"))
        .filter(|format| !format.is_empty())
        .collect();
    if !formats.is_empty() {
        base = format!("{base} ({})", formats.join(" or "));
    }
    for (keyword, words) in [
        ("minimum", "at least"),
        ("maximum", "at most"),
        ("minLength", "at least {} characters"),
        ("maxLength", "at most {} characters"),
        ("maxItems", "at most {} items"),
        ("pattern", "matches"),
        ("const", "always"),
    ] {
        match schema.get(keyword) {
            None => {}
            // The limits of the type itself carry no information.
            Some(Value::Number(limit)) if limit.as_i64() == Some(i64::MAX) => {}
            Some(Value::String(limit)) => base.push_str(&format!(", {words} {limit}")),
            Some(limit) if words.contains("{}") => {
                base.push_str(&format!(", {}", words.replace("{}", &limit.to_string())));
            }
            Some(limit) => base.push_str(&format!(", {words} {limit}")),
        }
    }
    if nullable {
        base.push_str(" or null");
    }
    // Defaults of whole objects are the defaults of their fields.
    match field.get("default").or_else(|| schema.get("default")) {
        Some(Value::String(default)) => base.push_str(&format!(", default {default}")),
        Some(default @ (Value::Number(_) | Value::Bool(_))) => base.push_str(&format!(", default {default}")),
        _ => {}
    }
    base
}

/// Renders the values of an enum, also of an open one, with their descriptions.
fn words(schema: &Value) -> String {
    let values: String = items(schema, "enum")
        .iter()
        .chain(items(schema, "anyOf").iter().flat_map(|alternative| items(alternative, "enum")))
        .filter_map(Value::as_str)
        .map(|value| {
            let shown = if value.is_empty() { "(empty)" } else { value };
            let about = text(&schema["x-enumDescriptions"], value);
            format!("<dt><code>{}</code></dt><dd>{}</dd>\n", escape(shown), inline(about))
        })
        .collect();
    if values.is_empty() { values } else { format!("<dl class=\"words\">\n{values}</dl>\n") }
}
