use serde_json::json;

use super::{Example, ORGANIZATION_ID, REQUEST_ID, access, schema_url};

pub(crate) fn response() -> Example {
    Example {
        name: "key",
        summary: "An API key of a billed organization",
        value: json!({
            "$schema": schema_url("MeResponse"),
            "request_id": REQUEST_ID,
            "organization": {
                "organization_id": ORGANIZATION_ID,
                "name": "Example Ltd",
                "billed": true,
                "balance_cents": 4200,
            },
            "credential": {
                "kind": "api_key",
                "api_key_id": "9f1c1b6e-0f43-4f0e-8a55-6f1f7f2e4a10",
                "name": "laptop",
                "key_prefix": "rsk_9f1cAB",
                "scopes": ["search:read", "document:read"],
                "limit_rps": 100,
                "expires_at": "2027-01-31T00:00:00Z",
            },
            "quotas": {
                "files": {"used": 12, "limit": 100_000},
                "bytes": {"used": 48_213_000, "limit": 10_737_418_240_i64},
            },
            "web": {"index_empty": false, "has_providers": false},
            "access": access(),
        }),
    }
}
