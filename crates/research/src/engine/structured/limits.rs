//! Validation of the caller's schema when an assignment is created.

use std::collections::HashSet;
use std::fmt;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

/// Maximum size of a schema as JSON.
pub const MAX_SCHEMA_BYTES: usize = 65_536;
/// Maximum nesting of subschemas, with references followed.
pub const MAX_DEPTH: usize = 16;
/// Maximum number of subschemas, with references followed.
pub const MAX_SUBSCHEMAS: usize = 2_000;
/// Maximum number of different patterns.
pub const MAX_PATTERNS: usize = 64;
/// Memory of a compiled pattern in bytes.
const MAX_PATTERN_BYTES: usize = 1 << 17;

/// Keywords whose value is a schema.
const ONE: &[&str] = &[
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords whose value is a list of schemas.
const LIST: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value maps names to schemas.
const NAMED: &[&str] = &["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];
/// Keywords that change what references mean.
const REFUSED: &[&str] = &["$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$vocabulary"];

/// Reason for refusing a schema.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InvalidSchema {
    /// JSON Pointer to the place in the schema; empty for the root.
    pub field: String,
    pub message: String,
}

impl InvalidSchema {
    fn new(field: &str, message: impl Into<String>) -> Self {
        Self { field: field.to_owned(), message: message.into() }
    }
}

impl fmt::Display for InvalidSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.field.is_empty() { "/" } else { &self.field };
        write!(f, "invalid schema at `{place}`: {}", self.message)
    }
}

impl std::error::Error for InvalidSchema {}

/// Checks that a schema is JSON Schema 2020-12 of bounded size, without external or recursive references.
///
/// # Errors
///
/// The first fault, with its place in the schema.
pub fn validate_schema(schema: &Value) -> Result<(), InvalidSchema> {
    validator(schema).map(drop)
}

/// Compiles a schema after all checks. References are never fetched, and patterns are matched in linear time.
pub(super) fn validator(schema: &Value) -> Result<Validator, InvalidSchema> {
    if !schema.is_object() {
        return Err(InvalidSchema::new("", "must be an object"));
    }
    let bytes = schema.to_string().len();
    if bytes > MAX_SCHEMA_BYTES {
        return Err(InvalidSchema::new("", format!("has {bytes} bytes; the maximum is {MAX_SCHEMA_BYTES}")));
    }
    if let Some(dialect) = schema.get("$schema")
        && dialect.as_str().map(|text| text.trim_end_matches('#'))
            != Some("https://json-schema.org/draft/2020-12/schema")
    {
        return Err(InvalidSchema::new("/$schema", format!("`{dialect}` is not JSON Schema 2020-12")));
    }
    let mut walk = Walk { root: schema, count: 0, patterns: HashSet::new(), references: Vec::new() };
    walk.schema(schema, "", 0)?;
    if let Err(error) = jsonschema::draft202012::meta::validate(schema) {
        return Err(InvalidSchema::new(&error.instance_path().to_string(), error.to_string()));
    }
    let patterns = PatternOptions::regex().size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_BYTES);
    jsonschema::draft202012::options()
        .offline()
        .should_validate_formats(true)
        .should_ignore_unknown_formats(true)
        .with_pattern_options(patterns)
        .build(schema)
        .map_err(|error| InvalidSchema::new(&error.instance_path().to_string(), error.to_string()))
}

/// Visits every subschema, with references followed, as a validator would.
struct Walk<'a> {
    root: &'a Value,
    count: usize,
    /// Patterns, each of which is compiled once.
    patterns: HashSet<&'a str>,
    /// References that are being followed.
    references: Vec<&'a str>,
}

impl<'a> Walk<'a> {
    fn schema(&mut self, schema: &'a Value, place: &str, depth: usize) -> Result<(), InvalidSchema> {
        let Some(object) = schema.as_object() else { return Ok(()) };
        self.count += 1;
        if self.count > MAX_SUBSCHEMAS {
            let message = format!("has more than {MAX_SUBSCHEMAS} subschemas with its references followed");
            return Err(InvalidSchema::new(place, message));
        }
        if depth > MAX_DEPTH {
            return Err(InvalidSchema::new(place, format!("is nested more than {MAX_DEPTH} levels deep")));
        }
        for (key, value) in object {
            let here = || format!("{place}/{}", escape(key));
            if REFUSED.contains(&&**key) || (key == "$id" && depth > 0) {
                return Err(InvalidSchema::new(&here(), format!("`{key}` is not supported")));
            }
            if key == "$ref" {
                self.reference(value, &here(), depth)?;
            } else if key == "pattern" {
                self.pattern(value.as_str().unwrap_or_default(), &here())?;
            } else if ONE.contains(&&**key) {
                self.schema(value, &here(), depth + 1)?;
            } else if LIST.contains(&&**key) {
                for (at, item) in value.as_array().into_iter().flatten().enumerate() {
                    self.schema(item, &format!("{}/{at}", here()), depth + 1)?;
                }
            } else if NAMED.contains(&&**key) {
                for (name, item) in value.as_object().into_iter().flatten() {
                    let here = format!("{}/{}", here(), escape(name));
                    if key == "patternProperties" {
                        self.pattern(name, &here)?;
                    }
                    self.schema(item, &here, depth + 1)?;
                }
            }
        }
        Ok(())
    }

    fn pattern(&mut self, pattern: &'a str, place: &str) -> Result<(), InvalidSchema> {
        self.patterns.insert(pattern);
        if self.patterns.len() > MAX_PATTERNS {
            return Err(InvalidSchema::new(place, format!("is one of more than {MAX_PATTERNS} different patterns")));
        }
        Ok(())
    }

    fn reference(&mut self, value: &'a Value, place: &str, depth: usize) -> Result<(), InvalidSchema> {
        let Some(reference) = value.as_str() else { return Err(InvalidSchema::new(place, "must be a string")) };
        if !reference.starts_with('#') {
            return Err(InvalidSchema::new(place, format!("external reference `{reference}`: use `#/$defs/...`")));
        }
        if self.references.contains(&reference) {
            return Err(InvalidSchema::new(place, format!("recursive reference `{reference}`")));
        }
        let Some(target) = resolve(self.root, reference) else {
            return Err(InvalidSchema::new(place, format!("`{reference}` names nothing in the schema")));
        };
        // The root contains the reference itself.
        if std::ptr::eq(target, self.root) {
            return Err(InvalidSchema::new(place, format!("recursive reference `{reference}`")));
        }
        self.references.push(reference);
        self.schema(target, place, depth + 1)?;
        self.references.pop();
        Ok(())
    }
}

/// Returns the part of a schema that a local reference names.
pub(super) fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = reference.strip_prefix('#')?;
    // Characters of names are percent-encoded in references only outside of ASCII names, which nobody needs.
    if pointer.contains('%') { None } else { root.pointer(pointer) }
}

/// Escapes a name for a JSON Pointer.
pub(super) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(schema: Value, field: &str, message: &str) {
        let error = validate_schema(&schema).expect_err("refused");
        assert_eq!(error.field, field, "{error}");
        assert!(error.message.contains(message), "{error}");
    }

    #[test]
    fn faults_are_named_with_their_place() {
        refused(json!([]), "", "object");
        refused(json!({"type": "strin"}), "/type", "");
        refused(json!({"$schema": "http://json-schema.org/draft-07/schema#"}), "/$schema", "2020-12");
        refused(json!({"properties": {"a": {"$ref": "https://x.example/s.json"}}}), "/properties/a/$ref", "external");
        refused(json!({"properties": {"a": {"$ref": "other.json#/x"}}}), "/properties/a/$ref", "external");
        refused(json!({"properties": {"a": {"$ref": "#/$defs/b"}}}), "/properties/a/$ref", "names nothing");
        refused(json!({"properties": {"a": {"$ref": "#"}}}), "/properties/a/$ref", "recursive");
        refused(
            json!({"$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}}),
            "/$defs/a/items/$ref/items/$ref",
            "recursive",
        );
        refused(json!({"properties": {"a": {"$dynamicRef": "#a"}}}), "/properties/a/$dynamicRef", "not supported");
        refused(json!({"properties": {"a/b": {"pattern": "("}}}), "/properties/a~1b/pattern", "");
        refused(json!({"properties": {"a": {"pattern": "(a{1000}){1000}"}}}), "/properties/a/pattern", "");
        refused(json!({"description": "x".repeat(MAX_SCHEMA_BYTES)}), "", "bytes");
    }

    #[test]
    fn exploding_and_deep_schemas_are_refused() {
        let mut defs = serde_json::Map::new();
        defs.insert("l0".to_owned(), json!({"type": "string"}));
        for level in 1..14 {
            let below = json!({"$ref": format!("#/$defs/l{}", level - 1)});
            defs.insert(format!("l{level}"), json!({"anyOf": [below, below, below]}));
        }
        let error = validate_schema(&json!({"$defs": defs})).expect_err("refused");
        assert!(error.message.contains("more than"), "{error}");
        let mut deep = json!({});
        for _ in 0..=MAX_DEPTH {
            deep = json!({"items": deep});
        }
        assert!(validate_schema(&deep).expect_err("refused").message.contains("levels"));
    }

    #[test]
    fn schemas_with_many_patterns_are_refused() {
        let with = |count: usize| {
            let named: serde_json::Map<_, _> = (1..count).map(|n| (format!("^a{n:03}"), json!(true))).collect();
            json!({
                "patternProperties": named,
                "properties": {"a": {"pattern": "^x"}, "b": {"$ref": "#/properties/a"}, "c": {"pattern": "^x"}}
            })
        };
        assert_eq!(validate_schema(&with(MAX_PATTERNS)), Ok(()));
        refused(with(MAX_PATTERNS + 1), "/properties/a/pattern", "64 different patterns");
        refused(with(3_000), "/patternProperties/^a065", "64 different patterns");
    }

    #[test]
    fn usual_schemas_are_accepted() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/text"}, "b": {"type": "array", "items": {"$ref": "#/$defs/text"}}},
            "required": ["a"],
            "$defs": {"text": {"type": "string", "minLength": 1}}
        });
        assert_eq!(validate_schema(&schema), Ok(()));
    }
}
