use app::usage::{GroupBy, Interval};
use serde_json::json;
use time::Duration;
use time::macros::datetime;
use uuid::Uuid;

use crate::api::{Api, NOW};
use crate::fake::KEY_ID;

#[actix_web::test]
async fn the_overview_has_all_that_the_contract_names() {
    let api = Api::new();
    let answer = api.get("/v1/usage").await;
    assert_eq!((answer.status, answer.rate_headers()), (200, 3));
    let body = answer.json();
    assert_eq!(
        body["headline"],
        json!({"requests": 4, "errors": 1, "error_rate": 0.25, "avg_duration_ms": 2.5, "p95_duration_ms": 7.25, "spend_cents": 3})
    );
    let endpoint =
        json!({"route": "POST /v1/search", "label": "Search", "requests": 4, "errors": 1, "p95_duration_ms": 7.25});
    assert_eq!(body["endpoints"], json!([endpoint]));
    assert_eq!(
        body["keys"],
        json!([{"api_key_id": KEY_ID.0, "key_prefix": "rk_abc", "name": "laptop", "status": "revoked", "requests": 4,
            "errors": 1, "p95_duration_ms": 7.25, "spend_cents": 3}])
    );
    let bucket = "2026-06-15T00:00:00Z";
    let latency = json!({"bucket": bucket, "avg_duration_ms": 2.5, "p95_duration_ms": 7.25});
    assert_eq!(body["latency_series"], json!([latency]));
    let product = json!({"product": "search", "label": "Search", "requests": 4, "spend_cents": 3});
    assert_eq!(body["products"], json!([product]));
    let point = json!({"bucket": bucket, "group_id": "", "group_label": "", "requests": 4, "errors": 1});
    assert_eq!(body["series"], json!([point]));
    assert_eq!((&body["range"]["interval"], &body["range"]["timezone"]), (&json!("day"), &json!("UTC")));
    let request = api.service.overviews.lock().unwrap().pop().unwrap();
    assert_eq!(request.window.from(), NOW - Duration::days(30));
    assert_eq!((request.group_by, request.window.interval), (GroupBy::None, Interval::Day));
    assert!(request.api_key_ids.is_empty());
}

#[actix_web::test]
async fn parameters_are_read() {
    let api = Api::new();
    let ids = format!("{KEY_ID}%2C{KEY_ID},");
    let path = format!(
        "/v1/usage?from=2026-06-10T00:00:00%2B02:00&to=2026-06-12&interval=hour&group_by=status_class&api_key_ids={ids}"
    );
    let answer = api.get(&path).await;
    assert_eq!(answer.status, 200, "{}", answer.json());
    assert_eq!(answer.json()["range"]["from"], "2026-06-09T22:00:00Z");
    let request = api.service.overviews.lock().unwrap().pop().unwrap();
    assert_eq!(request.window.to(), datetime!(2026-06-12 00:00 UTC));
    assert_eq!((request.group_by, request.window.interval), (GroupBy::StatusClass, Interval::Hour));
    assert_eq!(request.api_key_ids, [KEY_ID, KEY_ID]);
    // Empty is as if it were not there.
    let answer = api.get("/v1/usage?from=&to=&interval=&group_by=&api_key_ids=").await;
    assert_eq!(answer.status, 200);
}

#[actix_web::test]
async fn bad_parameters_are_named() {
    let api = Api::new();
    let many = vec![Uuid::nil().to_string(); 51].join(",");
    for (query, field) in [
        ("from=yesterday", "from"),
        ("to=1767607200", "to"),
        ("from=2026-06-12&to=2026-06-11", "from"),
        ("from=2026-06-12&to=2026-06-12", "from"),
        ("from=2030-01-01&to=2030-01-02", "from"),
        ("from=1970-01-01", "from"),
        ("interval=minute", "interval"),
        ("interval=hour", "interval"),
        ("interval=hour&from=2026-06-01&to=2026-06-10", "interval"),
        ("group_by=color", "group_by"),
        ("api_key_ids=x", "api_key_ids"),
        (&format!("api_key_ids={many}"), "api_key_ids"),
        ("from=2026-06-12&from=2026-06-13", "from"),
        ("from=%ff", "from"),
        ("window=1", "window"),
    ] {
        api.get(&format!("/v1/usage?{query}")).await.expect_invalid(field);
    }
    let fifty = vec![Uuid::nil().to_string(); 50].join(",");
    assert_eq!(api.get(&format!("/v1/usage?api_key_ids={fifty}")).await.status, 200);
}
