//! Error responses.

use api_types::{ErrorBody, ErrorCode, ErrorEnvelope};
use serde_json::{Map, Value, json};

use crate::operation::COMMON_ERRORS;
use crate::{InvalidRequest, Spec, examples, headers};

/// Statuses with the same response in every operation, with its name in `components.responses`.
const SHARED: [(u16, &str); 5] = [
    (401, "Unauthenticated"),
    (403, "InsufficientScope"),
    (429, "RateLimited"),
    (500, "InternalError"),
    (502, "ProviderUnavailable"),
];

/// `components.responses`.
pub(crate) fn components() -> Value {
    let response = |(status, name): &(u16, &str)| ((*name).to_owned(), response(*status, &COMMON_ERRORS, None));
    Value::Object(SHARED.iter().map(response).collect())
}

/// The error responses of one operation, by status.
pub(crate) fn responses(operation: &Spec) -> Map<String, Value> {
    let errors = operation.all_errors();
    let mut all = Map::new();
    for status in errors.iter().map(|code| code.status()) {
        let answer = match SHARED.iter().find(|(shared, _)| *shared == status) {
            Some((_, name)) => json!({"$ref": format!("#/components/responses/{name}")}),
            None => response(status, &errors, Some(operation.invalid)),
        };
        all.insert(status.to_string(), answer);
    }
    all
}

/// The response for one status, with an example for each of the `codes` that have it.
fn response(status: u16, codes: &[ErrorCode], invalid: Option<InvalidRequest>) -> Value {
    let codes: Vec<_> = codes.iter().filter(|code| code.status() == status).collect();
    let lines: Vec<_> = codes.iter().map(|code| format!("`{}`: {}", code.as_str(), code.meaning())).collect();
    let examples: Map<_, _> = codes.iter().map(|code| (code.as_str().to_owned(), example(**code, invalid))).collect();
    json!({
        "description": lines.join("; "),
        "headers": headers::of(status),
        "content": {"application/json": {
            "schema": {"$ref": "#/components/schemas/ErrorEnvelope"},
            "examples": examples,
        }},
    })
}

fn example(code: ErrorCode, invalid: Option<InvalidRequest>) -> Value {
    let invalid = invalid.filter(|_| code == ErrorCode::ValidationError);
    let details = match code {
        ErrorCode::ValidationError => json!({"field": invalid.map(|invalid| invalid.field)}),
        ErrorCode::ResponseTooLarge => json!({"field": "response.budget.max_chars_total", "max_chars_total": 200}),
        ErrorCode::FileTooLarge => json!({"field": "size", "max_object_bytes": 104_857_600}),
        ErrorCode::UnsupportedFileType => json!({"field": "filename"}),
        ErrorCode::QuotaExceeded => {
            json!({"field": "size", "quota": "bytes", "used": 10_737_000_000_i64, "limit": 10_737_418_240_i64})
        }
        ErrorCode::InsufficientScope => json!({"scope": "search:read"}),
        ErrorCode::Overloaded => json!({"retry_after_seconds": 2}),
        _ => json!({}),
    };
    let at_admission = matches!(code.status(), 401 | 403 | 429);
    let envelope = ErrorEnvelope {
        schema: (!at_admission).then(|| examples::schema_url("ErrorEnvelope")),
        kind: "error".to_owned(),
        request_id: examples::REQUEST_ID,
        error: ErrorBody {
            code: code.as_str().to_owned(),
            message: invalid.map_or(code.meaning(), |invalid| invalid.message).to_owned(),
            details: details.as_object().cloned().unwrap_or_default(),
        },
    };
    json!({"summary": code.meaning(), "value": envelope})
}
