//! Sample responses, and a client of the mock server.

use std::time::Duration;

use retrieval_client::Client;
use serde_json::{Value, json};

use crate::mock_server::MockServer;

pub const KEY: &str = "rk_test_key_that_is_secret";
pub const REQUEST: &str = "5b0f3a52-2a0c-4ad1-9b1b-9cf8a4c4a001";
pub const SESSION: &str = "5b0f3a52-2a0c-4ad1-9b1b-9cf8a4c4a002";
pub const DOCUMENT: &str = "5b0f3a52-2a0c-4ad1-9b1b-9cf8a4c4a003";
pub const CAPTURE: &str = "5b0f3a52-2a0c-4ad1-9b1b-9cf8a4c4a004";

pub fn client(server: &MockServer) -> Client {
    let builder = Client::builder().base_url(server.address()).api_key(KEY).no_proxy();
    builder.timeout(Duration::from_secs(10)).build().unwrap()
}

pub fn files() -> Value {
    json!({ "request_id": REQUEST, "files": [{ "name": "a.txt", "size": 3, "last_modified": "2026-01-05T10:00:00Z" }] })
}

pub fn search() -> Value {
    json!({ "request_id": REQUEST, "search_id": REQUEST, "session_id": SESSION, "results": [], "warnings": null,
        "a_field_of_tomorrow": 1 })
}

pub fn presigned(url: &str, name: &str) -> Value {
    json!({ "request_id": REQUEST, "name": name, "url": url, "expires_in_seconds": 900, "max_object_bytes": 1000000 })
}

pub fn access() -> Value {
    json!({ "rate_limit": { "limit_rps": 100, "remaining": 99, "reset_at": "2026-01-05T10:00:01Z" } })
}
