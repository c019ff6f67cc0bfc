use serde_json::{Value, json};

use super::{Example, REQUEST_ID, schema_url};

/// Requests for each day of the window, by endpoint.
const SEARCHES: [u32; 7] = [61, 48, 57, 66, 70, 35, 43];
const READS: [u32; 7] = [6, 4, 5, 7, 5, 2, 3];

/// The answer to the examples of the query parameters: a week by day, one key, grouped by endpoint.
pub(crate) fn response() -> Example {
    let searches: u32 = SEARCHES.iter().sum();
    let reads: u32 = READS.iter().sum();
    let requests = searches + reads;
    let errors = 3;
    Example {
        name: "week",
        summary: "A week of one key by day, grouped by endpoint",
        value: json!({
            "$schema": schema_url("UsageOverview"),
            "request_id": REQUEST_ID,
            "headline": {
                "requests": requests,
                "errors": errors,
                "error_rate": f64::from(errors) / f64::from(requests),
                "avg_duration_ms": 21.4,
                "p95_duration_ms": 58.0,
                "spend_cents": searches,
            },
            "endpoints": [
                {
                    "route": "POST /v1/search",
                    "label": "Search",
                    "requests": searches,
                    "errors": errors,
                    "p95_duration_ms": 58.0,
                },
                {
                    "route": "POST /v1/document",
                    "label": "Read document",
                    "requests": reads,
                    "errors": 0,
                    "p95_duration_ms": 41.0,
                },
            ],
            "keys": [{
                "api_key_id": "9f1c1b6e-0f43-4f0e-8a55-6f1f7f2e4a10",
                "key_prefix": "rk_9f1c",
                "name": "laptop",
                "status": "active",
                "requests": requests,
                "errors": errors,
                "p95_duration_ms": 58.0,
                "spend_cents": searches,
                "last_used_at": "2026-05-07T18:59:58Z",
            }],
            "latency_series": days(|_, bucket| {
                vec![json!({"bucket": bucket, "avg_duration_ms": 21.4, "p95_duration_ms": 58.0})]
            }),
            "products": [{"product": "search", "label": "Search", "requests": searches, "spend_cents": searches}],
            "range": {
                "from": "2026-05-01T00:00:00Z",
                "to": "2026-05-08T00:00:00Z",
                "interval": "day",
                "timezone": "UTC",
            },
            "series": days(|day, bucket| {
                let point = |route: &str, label: &str, requests: u32, errors: u32| {
                    json!({
                        "bucket": bucket,
                        "group_id": route,
                        "group_label": label,
                        "requests": requests,
                        "errors": errors,
                    })
                };
                let errors = if day == 0 { errors } else { 0 };
                vec![
                    point("POST /v1/search", "Search", SEARCHES[day], errors),
                    point("POST /v1/document", "Read document", READS[day], 0),
                ]
            }),
        }),
    }
}

/// The points of the seven days, by number of the day from 0 and start of its bucket.
fn days(points: impl Fn(usize, &str) -> Vec<Value>) -> Vec<Value> {
    (0..SEARCHES.len()).flat_map(|day| points(day, &format!("2026-05-0{}T00:00:00Z", day + 1))).collect()
}
