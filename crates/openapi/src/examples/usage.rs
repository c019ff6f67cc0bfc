use serde_json::json;

use super::{Example, REQUEST_ID, schema_url};

pub(crate) fn response() -> Example {
    Example {
        name: "overview",
        summary: "One day with one key",
        value: json!({
            "$schema": schema_url("UsageOverview"),
            "request_id": REQUEST_ID,
            "headline": {
                "requests": 412,
                "errors": 3,
                "error_rate": 0.00728,
                "avg_duration_ms": 21.4,
                "p95_duration_ms": 58.0,
                "spend_cents": 380,
            },
            "endpoints": [{
                "route": "POST /v1/search",
                "label": "Search",
                "requests": 380,
                "errors": 2,
                "p95_duration_ms": 58.0,
            }],
            "keys": [{
                "api_key_id": "9f1c1b6e-0f43-4f0e-8a55-6f1f7f2e4a10",
                "key_prefix": "rk_9f1c",
                "name": "laptop",
                "status": "active",
                "requests": 412,
                "errors": 3,
                "p95_duration_ms": 58.0,
                "spend_cents": 380,
                "last_used_at": "2026-06-15T11:59:58Z",
            }],
            "latency_series": [{"bucket": "2026-06-15T00:00:00Z", "avg_duration_ms": 21.4, "p95_duration_ms": 58.0}],
            "products": [{"product": "search", "label": "Search", "requests": 380, "spend_cents": 380}],
            "range": {
                "from": "2026-06-15T00:00:00Z",
                "to": "2026-06-15T12:00:00Z",
                "interval": "day",
                "timezone": "UTC",
            },
            "series": [{
                "bucket": "2026-06-15T00:00:00Z",
                "group_id": "",
                "group_label": "All requests",
                "requests": 412,
                "errors": 3,
            }],
        }),
    }
}
