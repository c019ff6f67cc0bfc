//! Response headers.

use serde_json::{Map, Value, json};

use crate::operation::Spec;

/// Headers of every response.
const ALWAYS: [&str; 2] = ["X-Request-ID", "Link"];

/// Headers of responses to requests that reached the rate limiter.
const RATE_LIMIT: [&str; 3] = ["X-RateLimit-Limit-RPS", "X-RateLimit-Remaining", "X-RateLimit-Reset"];

/// `components.headers`.
pub(crate) fn components() -> Value {
    json!({
        "X-Request-ID": {
            "description": "Id of this request, as in `request_id` in the body.",
            "required": true,
            "schema": {"type": "string", "format": "uuid"},
        },
        "Link": {
            "description": "The JSON Schema of the body, as `<URL>; rel=\"describedby\"`.",
            "required": true,
            "schema": {"type": "string"},
        },
        "X-RateLimit-Limit-RPS": {
            "description": "Maximum requests per second of the credential.",
            "required": true,
            "schema": {"type": "integer", "format": "int64", "minimum": 1},
        },
        "X-RateLimit-Remaining": {
            "description": "Requests left in the current one-second window; 0 on 429.",
            "required": true,
            "schema": {"type": "integer", "format": "int64", "minimum": 0},
        },
        "X-RateLimit-Reset": {
            "description": "Start of the next window (RFC 3339), about a second away at most.",
            "required": true,
            "schema": {"type": "string", "format": "date-time"},
        },
        "Location": {
            "description": "Path of the created resource.",
            "required": true,
            "schema": {"type": "string", "format": "uri-reference"},
        },
        "Retry-After": {
            "description": "Seconds after which a retry makes sense.",
            "required": true,
            "schema": {"type": "integer", "minimum": 1},
        },
        "WWW-Authenticate": {
            "description": "The authentication scheme: `Bearer`.",
            "required": true,
            "schema": {"type": "string"},
        },
    })
}

/// The headers of a response with this status, as references. Headers that a fault may omit are written out.
pub(crate) fn of(status: u16) -> Value {
    // 401 and 403 precede the limiter.
    let limited = !matches!(status, 401 | 403);
    let mut names: Vec<&str> = ALWAYS.to_vec();
    names.extend(limited.then_some(RATE_LIMIT).into_iter().flatten());
    names.extend((status == 401).then_some("WWW-Authenticate"));
    names.extend((status == 503).then_some("Retry-After"));
    let header = |name: &str| (name.to_owned(), header(name, status));
    Value::Object(names.into_iter().map(header).collect::<Map<_, _>>())
}

/// The headers of an operation's successful response.
pub(crate) fn of_success(operation: &Spec) -> Value {
    let mut headers = of(operation.status);
    if operation.located {
        headers["Location"] = header("Location", operation.status);
    }
    headers
}

fn header(name: &str, status: u16) -> Value {
    // A fault during admission and the limit of rejected credentials also precede the limiter, and a server without an index
    // answers 503 whenever it is asked.
    if matches!(status, 429 | 500 | 502) && RATE_LIMIT.contains(&name) || name == "Retry-After" {
        let mut header = components()[name].take();
        header["required"] = false.into();
        return header;
    }
    json!({"$ref": format!("#/components/headers/{name}")})
}
