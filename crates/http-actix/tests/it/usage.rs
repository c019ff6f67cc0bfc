use std::sync::Arc;
use std::time::Duration;

use app::Identity;
use app::accounts::NewKey;
use app::usage::UsageEvent;
use model::{ApiKeyId, SystemClock};
use serde_json::{Value, json};
use test_support::{Setup, TestApp, page, search};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::api::{Api, NOW, stopped_clock};

/// A search that was answered in 2.5 ms.
fn event(api: &Api, status: u16, at: OffsetDateTime) -> UsageEvent {
    UsageEvent {
        organization_id: api.tenant.organization_id,
        identity: api.tenant.viewer.identity.clone(),
        route: "POST /v1/search",
        status,
        duration: Duration::from_micros(2_500),
        at,
        is_refused: false,
    }
}

async fn record(api: &Api, events: impl IntoIterator<Item = UsageEvent>) {
    events.into_iter().for_each(|event| api.world.app.record_usage(event));
    api.world.app.close().await;
}

#[actix_web::test]
async fn the_overview_has_all_parts_of_the_contract() {
    let mut setup = Setup::default();
    setup.options.search_cents = 3;
    let world = TestApp::with(setup).await;
    let tenant = world.billed_tenant(100).await;
    world.import_one(page("https://example.com/", "The tides.")).await;
    world.app.search(&tenant.viewer, search("tides")).await.unwrap().charge.unwrap().keep();
    let revoked =
        world.create_key(tenant.organization_id, NewKey { name: "laptop".to_owned(), ..NewKey::default() }).await.row;
    world.revoke_key(revoked.id).await;
    let api = Api::of(world, tenant, Arc::new(SystemClock));
    let now = OffsetDateTime::now_utc();
    record(&api, [200, 200, 200, 500].map(|status| event(&api, status, now))).await;

    let answer = api.get("/v1/usage").await;
    assert_eq!((answer.status, answer.rate_headers()), (200, 3));
    let body = answer.json();
    let p95 = body["headline"]["p95_duration_ms"].clone();
    assert!((2.4..2.7).contains(&p95.as_f64().unwrap()), "{p95}");
    assert_eq!(
        body["headline"],
        json!({"requests": 4, "errors": 1, "error_rate": 0.25, "avg_duration_ms": 2.5, "p95_duration_ms": p95, "spend_cents": 3})
    );
    let endpoint =
        json!({"route": "POST /v1/search", "label": "Search", "requests": 4, "errors": 1, "p95_duration_ms": p95});
    assert_eq!(body["endpoints"], json!([endpoint]));
    let [used, unused] = &body["keys"].as_array().unwrap()[..] else { panic!("{body}") };
    assert_eq!((&used["status"], &used["requests"], &used["spend_cents"]), (&json!("active"), &json!(4), &json!(3)));
    assert!(used["last_used_at"].is_string());
    let expected = json!({"api_key_id": revoked.id.to_string(), "key_prefix": revoked.prefix, "name": "laptop",
        "status": "revoked", "requests": 0, "errors": 0, "p95_duration_ms": 0.0, "spend_cents": 0});
    assert_eq!(*unused, expected, "a key that was never used has no time of its last use");
    let product = json!({"product": "search", "label": "Search", "requests": 4, "spend_cents": 3});
    assert_eq!(body["products"], json!([product]));
    assert_eq!((&body["range"]["interval"], &body["range"]["timezone"]), (&json!("day"), &json!("UTC")));

    let today = format!("{}T00:00:00Z", now.date());
    let of_today = |list: &Value| list.as_array().unwrap().iter().find(|point| point["bucket"] == today).cloned();
    let latency = json!({"bucket": today, "avg_duration_ms": 2.5, "p95_duration_ms": p95});
    assert_eq!(of_today(&body["latency_series"]), Some(latency));
    let point = json!({"bucket": today, "group_id": "", "group_label": "", "requests": 4, "errors": 1});
    assert_eq!(of_today(&body["series"]), Some(point));
}

/// A refused request costs its sender nothing, so only the first ones of a minute cost a row.
#[actix_web::test]
async fn further_refused_requests_are_counted_and_not_stored() {
    let mut setup = Setup::default();
    setup.options.default_rps = 1;
    let world = TestApp::with(setup).await;
    let tenant = world.tenant().await;
    let clock = stopped_clock();
    let api = Api::of(world, tenant, Arc::clone(&clock) as _);
    for number in 0..150 {
        assert_eq!(api.get("/v1/files").await.status, if number == 0 { 200 } else { 429 });
    }
    assert_eq!(api.recorded().await.len(), 101);
    clock.advance(Duration::from_secs(1));
    let body = api.get("/v1/usage").await.json();
    assert_eq!((&body["headline"]["requests"], &body["headline"]["errors"]), (&json!(150), &json!(149)));
    assert!(body["keys"][0]["last_used_at"].is_string());
}

/// Each answer is validated against the published schema.
#[actix_web::test]
async fn a_window_with_the_refund_of_an_earlier_charge_is_negative() {
    let mut setup = Setup::default();
    setup.options.search_cents = 3;
    let world = TestApp::with(setup).await;
    let tenant = world.billed_tenant(100).await;
    world.import_one(page("https://example.com/", "The tides.")).await;
    let charge = world.app.search(&tenant.viewer, search("tides")).await.unwrap().charge.unwrap();
    world.clock.advance(Duration::from_hours(48));
    charge.refund().await;
    world.clock.advance(Duration::from_secs(1));
    let clock = Arc::clone(&world.clock);
    let yesterday = OffsetDateTime::now_utc() + time::Duration::DAY;
    let api = Api::of(world, tenant, clock);
    let body = api.get(&format!("/v1/usage?from={}T00:00:00Z", yesterday.date())).await.json();
    assert_eq!(body["headline"]["spend_cents"], -3, "{body}");
    assert_eq!((&body["keys"][0]["spend_cents"], &body["products"][0]["spend_cents"]), (&json!(-3), &json!(-3)));
}

#[actix_web::test]
async fn the_window_ends_now_and_covers_thirty_days() {
    let api = Api::new().await;
    let range = api.get("/v1/usage").await.json()["range"].clone();
    assert_eq!((&range["from"], &range["to"]), (&json!("2026-05-16T12:00:00.25Z"), &json!("2026-06-15T12:00:00.25Z")));
}

#[actix_web::test]
async fn parameters_are_applied() {
    let api = Api::new().await;
    let at = NOW.replace_day(11).unwrap();
    let other = UsageEvent { identity: Identity::ApiKey(ApiKeyId(Uuid::from_u128(1))), ..event(&api, 200, at) };
    let late = event(&api, 200, NOW.replace_day(12).unwrap());
    record(&api, [event(&api, 200, at), event(&api, 404, at), other, late]).await;
    let key_id = api.tenant.key_id;
    let path = format!(
        "/v1/usage?from=2026-06-10T00:00:00%2B02:00&to=2026-06-12&interval=hour&group_by=status_class&api_key_ids={key_id}%2C{key_id},"
    );
    let answer = api.get(&path).await;
    let body = answer.json();
    assert_eq!(answer.status, 200, "{body}");
    let range =
        json!({"from": "2026-06-09T22:00:00Z", "to": "2026-06-12T00:00:00Z", "interval": "hour", "timezone": "UTC"});
    assert_eq!(body["range"], range);
    assert_eq!(body["latency_series"].as_array().unwrap().len(), 50);
    assert_eq!(body["headline"]["requests"], 2, "of this key in this window");
    let groups: Vec<_> = body["series"].as_array().unwrap().iter().filter(|point| point["requests"] == 1).collect();
    assert_eq!(groups.iter().map(|point| &point["group_id"]).collect::<Vec<_>>(), ["2xx", "4xx"]);
    assert!(groups.iter().all(|point| point["bucket"] == "2026-06-11T12:00:00Z"));
    // An empty value counts as an absent one.
    let answer = api.get("/v1/usage?from=&to=&interval=&group_by=&api_key_ids=").await;
    assert_eq!(answer.status, 200);
    // An encoded name counts as its decoded form.
    let body = api.get("/v1/usage?from=2026-06-10&to=2026-06-12&group%5Fby=status_class").await.json();
    assert!(body["series"].as_array().unwrap().iter().any(|point| point["group_id"] == "2xx"), "{body}");
}

#[actix_web::test]
async fn bad_parameters_are_named() {
    let api = Api::new().await;
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
