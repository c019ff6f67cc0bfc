//! Validation of the caller's schema when an assignment is created.

use std::collections::HashSet;
use std::fmt;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

/// Maximum size of a schema as JSON.
pub const MAX_SCHEMA_BYTES: usize = 65_536;
/// Maximum nesting of subschemas, with references followed.
pub const MAX_DEPTH: usize = 16;
/// Maximum number of subschemas with references followed, each as often as one value is validated against it.
pub const MAX_SUBSCHEMAS: usize = 2_000;
/// Maximum number of different patterns.
pub const MAX_PATTERNS: usize = 64;
/// Memory of a compiled pattern in bytes.
const MAX_PATTERN_BYTES: usize = 1 << 17;

// These three lists have all keywords in which the validator reads schemas, whatever dialect they belong to. It reads
// `additionalItems` only beside a list in `items`, which the meta-schema refuses.

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
/// Keywords whose value maps names to schemas. Those of `dependencies` can also be lists of names.
const NAMED: &[&str] = &["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];
/// Keywords that change what references mean.
const REFUSED: &[&str] = &["$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$vocabulary"];
/// Keywords that apply to what the other keywords of their schema do not evaluate.
const UNEVALUATED: &[&str] = &["unevaluatedItems", "unevaluatedProperties"];
/// Keywords whose schemas are validated again to find out what they evaluate.
const REPEATED: &[&str] = &[
    "$ref",
    "allOf",
    "anyOf",
    "contains",
    "dependentSchemas",
    "else",
    "if",
    "oneOf",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

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
    let mut walk = Walk { root: schema, count: 0, patterns: HashSet::new(), references: Vec::new() };
    walk.schema(schema, "", Level { depth: 0, validations: 1, collections: 0 })?;
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

/// Nesting of a schema, and how often a validator runs it on one value.
#[derive(Clone, Copy)]
struct Level {
    depth: usize,
    /// Runs that decide whether the value is valid.
    validations: usize,
    /// Runs that collect what the schema evaluates. Each validates the schemas inside again.
    collections: usize,
}

impl Level {
    /// Returns the level of the schemas in a keyword.
    fn below(self, keyword: &str) -> Self {
        let depth = self.depth + 1;
        if REPEATED.contains(&keyword) {
            Self { depth, validations: self.validations + self.collections, collections: self.collections }
        } else {
            Self { depth, validations: self.validations, collections: 0 }
        }
    }
}

/// Visits every subschema, with references followed, as a validator would.
struct Walk<'a> {
    root: &'a Value,
    /// Runs of subschemas on one value.
    count: usize,
    /// Patterns, each of which is compiled once.
    patterns: HashSet<&'a str>,
    /// References that are being followed.
    references: Vec<&'a str>,
}

impl<'a> Walk<'a> {
    fn schema(&mut self, schema: &'a Value, place: &str, mut level: Level) -> Result<(), InvalidSchema> {
        let Some(object) = schema.as_object() else { return Ok(()) };
        self.count += level.validations;
        if self.count > MAX_SUBSCHEMAS {
            let message = format!("has more than {MAX_SUBSCHEMAS} subschemas to validate with its references followed");
            return Err(InvalidSchema::new(place, message));
        }
        if level.depth > MAX_DEPTH {
            return Err(InvalidSchema::new(place, format!("is nested more than {MAX_DEPTH} levels deep")));
        }
        if UNEVALUATED.iter().any(|keyword| object.contains_key(*keyword)) {
            level.collections += level.validations;
        }
        for (key, value) in object {
            let here = || format!("{place}/{}", escape(key));
            let below = level.below(key);
            if REFUSED.contains(&&**key) || (key == "$id" && level.depth > 0) {
                return Err(InvalidSchema::new(&here(), format!("`{key}` is not supported")));
            }
            if key == "$schema" && !is_supported(value) {
                return Err(InvalidSchema::new(&here(), format!("`{value}` is not JSON Schema 2020-12")));
            }
            if key == "$ref" {
                self.reference(value, &here(), below)?;
            } else if key == "pattern" {
                self.pattern(value.as_str().unwrap_or_default(), &here())?;
            } else if ONE.contains(&&**key) {
                self.schema(value, &here(), below)?;
            } else if LIST.contains(&&**key) {
                for (at, item) in value.as_array().into_iter().flatten().enumerate() {
                    self.schema(item, &format!("{}/{at}", here()), below)?;
                }
            } else if NAMED.contains(&&**key) {
                for (name, item) in value.as_object().into_iter().flatten() {
                    let here = format!("{}/{}", here(), escape(name));
                    if key == "patternProperties" {
                        self.pattern(name, &here)?;
                    }
                    self.schema(item, &here, below)?;
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

    /// `level`: that of the schema that the reference names.
    fn reference(&mut self, value: &'a Value, place: &str, level: Level) -> Result<(), InvalidSchema> {
        let Some(reference) = value.as_str() else { return Err(InvalidSchema::new(place, "must be a string")) };
        if !reference.starts_with('#') {
            return Err(InvalidSchema::new(place, format!("external reference `{reference}`: use `#/$defs/...`")));
        }
        if self.references.contains(&reference) {
            return Err(InvalidSchema::new(place, format!("recursive reference `{reference}`")));
        }
        let Some(target) = resolve(self.root, reference) else {
            return Err(InvalidSchema::new(place, format!("`{reference}` names nothing that is a subschema")));
        };
        // The root contains the reference itself.
        if std::ptr::eq(target, self.root) {
            return Err(InvalidSchema::new(place, format!("recursive reference `{reference}`")));
        }
        self.references.push(reference);
        self.schema(target, place, level)?;
        self.references.pop();
        Ok(())
    }
}

/// Returns true for the name of the only dialect. Any other one, also of a subschema, changes what its keywords mean.
fn is_supported(dialect: &Value) -> bool {
    dialect.as_str().map(|text| text.trim_end_matches('#')) == Some("https://json-schema.org/draft/2020-12/schema")
}

/// Returns the subschema that a local reference names.
pub(super) fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = reference.strip_prefix('#')?;
    // Characters of names are percent-encoded in references only outside of ASCII names, which nobody needs.
    if pointer.contains('%') || !names_subschema(pointer) { None } else { root.pointer(pointer) }
}

/// Returns true if a JSON Pointer leads from schema to schema, so that [`Walk`] and the meta-schema check its target.
fn names_subschema(pointer: &str) -> bool {
    let mut names = pointer.split('/').skip(1);
    while let Some(keyword) = names.next() {
        let is_schema =
            ONE.contains(&keyword) || ((LIST.contains(&keyword) || NAMED.contains(&keyword)) && names.next().is_some());
        if !is_schema {
            return false;
        }
    }
    true
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
        for dynamic in ["properties", "dependencies"] {
            let place = format!("/{dynamic}/a/$dynamicRef");
            refused(json!({dynamic: {"a": {"$dynamicRef": "#a"}}}), &place, "not supported");
        }
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
    fn dependencies_are_limited_like_other_subschemas() {
        let mut defs = serde_json::Map::new();
        defs.insert("l00".to_owned(), json!({"type": "object"}));
        for level in 1..41 {
            let below = json!({"$ref": format!("#/$defs/l{:02}", level - 1)});
            defs.insert(format!("l{level:02}"), json!({"dependencies": {"x": {"allOf": [below, below]}}}));
        }
        let error = validate_schema(&json!({"$defs": defs})).expect_err("refused");
        assert!(error.message.contains("more than"), "{error}");
        let recursive = json!({"dependencies": {"x": {"$ref": "#/dependencies/x"}}});
        refused(recursive, "/dependencies/x/$ref/$ref", "recursive");
        let patterns: serde_json::Map<_, _> = (0..=MAX_PATTERNS).map(|n| (format!("^a{n:03}"), json!(true))).collect();
        let with_patterns = json!({"dependencies": {"x": {"patternProperties": patterns}}});
        refused(with_patterns, "/dependencies/x/patternProperties/^a064", "64 different patterns");
    }

    #[test]
    fn subschemas_count_as_often_as_they_are_validated() {
        let nested = |levels: usize| {
            (0..levels).fold(json!({}), |inner, _| json!({"allOf": [inner], "unevaluatedProperties": false}))
        };
        // Each level validates the one below between two and three times.
        assert_eq!(validate_schema(&nested(6)), Ok(()));
        let error = validate_schema(&nested(12)).expect_err("refused");
        assert!(error.message.contains("subschemas"), "{error}");
        let branches = vec![json!({"minProperties": 1}); 1_200];
        assert_eq!(validate_schema(&json!({"allOf": branches})), Ok(()));
        let wide = json!({"allOf": branches, "unevaluatedProperties": false});
        assert!(validate_schema(&wide).expect_err("refused").message.contains("subschemas"));
        let fields: serde_json::Map<_, _> = (0..1_200).map(|n| (format!("f{n}"), json!({"minLength": 1}))).collect();
        assert_eq!(validate_schema(&json!({"properties": fields, "unevaluatedProperties": false})), Ok(()));
    }

    #[test]
    fn references_name_subschemas_of_the_same_dialect() {
        let elsewhere = ["#/x/y", "#/x/items", "#/enum/0", "#/additionalItems", "#/$defs", "#/$defs/a/type", "#/allOf"];
        for reference in elsewhere {
            let schema = json!({
                "x": {"y": {"$dynamicRef": "#a"}, "items": {"$ref": "https://x.example/"}},
                "enum": [{"type": "string"}],
                "additionalItems": {"items": [{"$anchor": "a"}]},
                "$defs": {"a": {"type": "string"}},
                "allOf": [true],
                "items": {"$ref": reference}
            });
            refused(schema, "/items/$ref", "names nothing");
        }
        let draft_4 = json!({"$schema": "http://json-schema.org/draft-04/schema#", "id": "https://x.example/"});
        refused(json!({"items": draft_4}), "/items/$schema", "2020-12");
        for name in ["a/b", "items", "$schema", "0"] {
            let reference = format!("#/properties/{}/allOf/0", escape(name));
            let schema = json!({"properties": {name: {"allOf": [{"type": "string"}]}}, "items": {"$ref": reference}});
            assert_eq!(validate_schema(&schema), Ok(()), "{name}");
        }
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
            "dependencies": {"a": ["b"], "b": {"$ref": "#/$defs/text"}},
            "$defs": {"text": {"type": "string", "minLength": 1}}
        });
        assert_eq!(validate_schema(&schema), Ok(()));
    }
}
