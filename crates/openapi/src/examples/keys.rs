use serde_json::{Value, json};

use super::{Example, REQUEST_ID, schema_url};

/// Returns the body with the fields of a key.
fn with_key(schema: &str, revoked: bool) -> Value {
    let mut value = key();
    value["$schema"] = json!(schema_url(schema));
    value["request_id"] = json!(REQUEST_ID);
    if revoked {
        value["status"] = json!("revoked");
        value["revoked_at"] = json!("2026-06-16T08:30:00Z");
    }
    value
}

fn key() -> Value {
    json!({
        "api_key_id": "9f1c1b6e-0f43-4f0e-8a55-6f1f7f2e4a10",
        "name": "nightly sync",
        "key_prefix": "rsk_9f1cAB",
        "scopes": ["files:read", "files:write"],
        "limit_rps": 20,
        "status": "active",
        "created_at": "2026-06-15T12:00:00Z",
        "expires_at": "2027-01-31T00:00:00Z",
    })
}

pub(crate) fn list_response() -> Example {
    let value = json!({"$schema": schema_url("KeyListResponse"), "request_id": REQUEST_ID, "keys": [key()]});
    Example { name: "keys", summary: "One key", value }
}

pub(crate) fn create_requests() -> Vec<Example> {
    vec![
        Example { name: "key", summary: "A key with all scopes of the caller", value: json!({"name": "nightly sync"}) },
        Example {
            name: "limited",
            summary: "A key for uploads with a rate limit and an end",
            value: json!({
                "name": "nightly sync",
                "scopes": ["files:read", "files:write"],
                "limit_rps": 20,
                "expires_at": "2027-01-31T00:00:00Z",
            }),
        },
    ]
}

pub(crate) fn create_response() -> Example {
    let mut value = with_key("KeyCreateResponse", false);
    value["key"] = json!("rsk_9f1cAB...");
    Example { name: "created", summary: "The new key", value }
}

pub(crate) fn revoke_response() -> Example {
    Example { name: "revoked", summary: "The revoked key", value: with_key("KeyRevokeResponse", true) }
}
