//! Example bodies. Tests validate them against their schemas.

pub(crate) mod citations;
pub(crate) mod crawls;
pub(crate) mod documents;
pub(crate) mod feedback;
pub(crate) mod files;
pub(crate) mod keys;
pub(crate) mod me;
pub(crate) mod research;
pub(crate) mod search;
pub(crate) mod usage;
pub(crate) mod web_pages;
pub(crate) mod webhooks;

use serde_json::{Value, json};
use uuid::{Uuid, uuid};

/// An example of a body.
#[derive(Debug)]
pub struct Example {
    /// Unique among the examples of one body.
    pub name: &'static str,
    pub summary: &'static str,
    pub value: Value,
}

pub(crate) const REQUEST_ID: Uuid = uuid!("0190a6d2-6a5c-7cc0-8c5e-0f4c5a1b2c3d");
const SESSION_ID: Uuid = uuid!("5b3f0a52-8f0e-4c3b-9d57-1f6a4f1f3c11");
const SEARCH_ID: Uuid = uuid!("0190a6d2-6a60-7b11-9c2f-2a8d6e4f7b90");
const ORGANIZATION_ID: Uuid = uuid!("c2f5d1ac-7a37-4b0c-8f63-5f7a2f7f9e21");
const DOC_ID: Uuid = uuid!("7d8f4a0e-2f0c-5d8b-9a61-0e1c3b5a7f42");
const PASSAGE_ID: Uuid = uuid!("2b6c1d9e-5a34-5f70-8e12-9d4f6a8b0c13");
const CAPTURE_ID: Uuid = uuid!("0190a6cf-11aa-7e52-a1f3-6c2d8b9e4f05");

/// The `$schema` of a body of this type.
pub(crate) fn schema_url(name: &str) -> String {
    format!("https://api.example.com/schemas/{name}.json")
}

/// Sets `usage.bytes_returned` of a body to its length, as the server does.
fn metered(mut body: Value) -> Value {
    let stated = |body: &Value| body["usage"]["bytes_returned"].as_u64();
    // The number is part of what it counts, so its own length may change once.
    while stated(&body) != Some(body.to_string().len() as u64) {
        body["usage"]["bytes_returned"] = body.to_string().len().into();
    }
    body
}

fn access() -> Value {
    json!({"rate_limit": {"limit_rps": 100, "remaining": 99, "reset_at": "2026-06-15T12:00:01Z"}})
}
