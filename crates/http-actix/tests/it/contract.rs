//! Validates every response that the tests receive against the published document.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read;
use std::sync::LazyLock;

use jsonschema::Validator;
use openapi::{Spec, operations};
use serde_json::{Value, json};

use crate::api::Answer;

/// Headers of HTTP itself, which the document does not list.
const COMMON_HEADERS: [&str; 8] = [
    "cache-control",
    "content-encoding",
    "content-length",
    "content-type",
    "date",
    "transfer-encoding",
    "vary",
    "x-accel-buffering",
];

static DOCUMENT: LazyLock<Value> = LazyLock::new(openapi::document);

/// A validator for each schema of the document, by name. Stricter than the document: a response may not have a field
/// that the document does not name, though a client must expect new ones.
static VALIDATORS: LazyLock<HashMap<String, Validator>> = LazyLock::new(|| {
    let mut components = DOCUMENT["components"].clone();
    close(&mut components["schemas"]);
    let names = DOCUMENT["components"]["schemas"].as_object().unwrap().keys();
    let build = |name: &String| {
        let schema = json!({"$ref": format!("#/components/schemas/{name}"), "components": components});
        (name.clone(), jsonschema::draft202012::options().should_validate_formats(true).build(&schema).unwrap())
    };
    names.map(build).collect()
});

fn close(value: &mut Value) {
    if value["type"] == "object" && value["properties"].is_object() && value.get("additionalProperties").is_none() {
        value["additionalProperties"] = false.into();
    }
    match value {
        Value::Object(fields) => fields.values_mut().for_each(close),
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// Asserts that the document describes the response. Paths without an operation answer with the error envelope; paths
/// outside the API have formats of their own.
#[track_caller]
pub fn check(method: &str, path: &str, answer: &Answer) {
    let label = format!("{method} {path} {}", answer.status);
    let Some(operation) = operation(method, path) else {
        // Errors of the protocol are JSON-RPC's own.
        let is_rpc = path.starts_with("/mcp") && answer.bytes.starts_with(br#"{"error":{"code":-32"#);
        let is_foreign = ["/compat/", "/v2/", "/read/"].iter().any(|prefix| path.starts_with(prefix));
        if answer.status >= 400 && !is_rpc && !is_foreign {
            check_body("ErrorEnvelope", answer, &label);
        }
        return;
    };
    let described = &DOCUMENT["paths"][operation.path][operation.method.as_str().to_lowercase()];
    let response = follow(&described["responses"][answer.status.to_string()]);
    assert!(response.is_object(), "{label}: {} has no such status", operation.id);
    let headers = response["headers"].as_object().unwrap();
    for name in answer.headers.keys().map(|name| name.as_str()).filter(|name| !COMMON_HEADERS.contains(name)) {
        let is_described = headers.keys().any(|described| described.eq_ignore_ascii_case(name));
        assert!(is_described, "{label}: {} does not describe the header {name}", operation.id);
    }
    for (name, header) in headers {
        let header = follow(header);
        match answer.header(name) {
            None => assert_ne!(header["required"], true, "{label}: no header {name}"),
            Some(text) => {
                let number = header["schema"]["type"] == "integer";
                let value = if number { json!(text.parse::<i64>().unwrap()) } else { json!(text) };
                let valid = jsonschema::draft202012::options().should_validate_formats(true).build(&header["schema"]);
                assert!(valid.unwrap().is_valid(&value), "{label}: {name}: {text}");
            }
        }
    }
    if operation.stream.is_some() && answer.header("Content-Type") == operation.stream {
        return;
    }
    let content = &response["content"]["application/json"];
    assert_eq!(answer.header("Content-Type"), Some("application/json"), "{label}");
    let schema = content["schema"]["$ref"].as_str().unwrap().rsplit('/').next().unwrap();
    let body = check_body(schema, answer, &label);
    assert!(answer.header("Link").unwrap().contains(&format!("/schemas/{schema}.json>; rel=\"describedby\"")));
    if let Some(code) = body["error"]["code"].as_str() {
        assert!(content["examples"].get(code).is_some(), "{label}: {} does not name the code {code}", operation.id);
    }
}

fn check_body(schema: &str, answer: &Answer, label: &str) -> Value {
    let bytes: Cow<[u8]> = match answer.header("Content-Encoding") {
        Some("gzip") => {
            let mut text = Vec::new();
            flate2::read::GzDecoder::new(&answer.bytes[..]).read_to_end(&mut text).unwrap();
            text.into()
        }
        _ => (&answer.bytes[..]).into(),
    };
    let mut body: Value = serde_json::from_slice(&bytes).unwrap();
    if label.contains(" /skills/") {
        // Beside the envelope, outside of the API.
        body.as_object_mut().unwrap().remove("hint");
    }
    let errors = VALIDATORS[schema].iter_errors(&body);
    let errors: Vec<_> = errors.map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{label}: {errors:?}");
    body
}

/// The operation of this method at this path; fixed segments win over parameters.
pub fn operation(method: &str, path: &str) -> Option<&'static Spec> {
    let fits = |operation: &&'static Spec| {
        let (template, segments) = (operation.path.split('/'), path.split('/'));
        let same_length = template.clone().count() == segments.clone().count();
        let segment_fits =
            |(wanted, segment): (&str, &str)| wanted == segment || (wanted.starts_with('{') && !segment.is_empty());
        operation.method.as_str() == method && same_length && template.zip(segments).all(segment_fits)
    };
    let taken = operations::all().any(|operation| operation.path == path);
    operations::all().filter(|operation| !taken || operation.path == path).find(fits)
}

fn follow(value: &'static Value) -> &'static Value {
    match value["$ref"].as_str() {
        Some(reference) => DOCUMENT.pointer(reference.strip_prefix('#').unwrap()).unwrap(),
        None => value,
    }
}
