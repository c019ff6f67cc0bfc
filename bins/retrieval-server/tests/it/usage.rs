//! Usage overview, spending, and last use of keys.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Client, Database, Server, until};

on_both_databases!(
    overview_counts_requests,
    overview_shows_spending_by_key,
    requests_before_shutdown_are_counted,
    last_use_of_keys_is_recorded,
);

fn overview(client: &Client, query: &str) -> Value {
    client.get(&format!("/v1/usage{query}")).ok()
}

/// Waits for at least `requests` requests, which are written shortly after their responses.
fn counted(client: &Client, query: &str, requests: i64) -> Value {
    until("the requests are counted", Duration::from_secs(10), || {
        let body = overview(client, query);
        (body["headline"]["requests"].as_i64().unwrap() >= requests).then_some(body)
    })
}

fn overview_counts_requests(database: Database) {
    let server = Server::start(database);
    let (client, rival) = (server.tenant("acme"), server.tenant("rival"));
    let key = server.create_key(client.organization, &["--limit-rps", "1000"]);
    let other = client.with_key(key["key"].as_str());
    for _ in 0..3 {
        client.search_web("walrus");
    }
    other.search("walrus", json!({ "max_results": 99 })).error(400, "validation_error");
    other.get("/v1/files").ok();
    rival.search_web("walrus");
    let ids = format!("?api_key_ids={}", key["api_key_id"].as_str().unwrap());
    counted(&client, &ids, 2);

    let body = counted(&client, "?group_by=endpoint", 5);
    let row = |list: &str, name: &str, value: &Value| {
        let rows = body[list].as_array().unwrap();
        rows.iter().find(|row| row[name] == *value).unwrap_or_else(|| panic!("{value} in {body:#}")).clone()
    };
    let search = row("endpoints", "route", &json!("POST /v1/search"));
    assert_eq!((&search["requests"], &search["errors"], &search["label"]), (&json!(4), &json!(1), &json!("Search")));
    assert!(search["p95_duration_ms"].as_f64().unwrap() > 0.0);
    let used = row("keys", "api_key_id", &key["api_key_id"]);
    assert_eq!((&used["requests"], &used["errors"], &used["status"]), (&json!(2), &json!(1), &json!("active")));
    assert_eq!((&used["name"], &used["key_prefix"]), (&json!("test"), &key["key_prefix"]));
    assert!(body["keys"][0]["requests"].as_i64() >= body["keys"][1]["requests"].as_i64());
    assert_eq!(body["range"]["interval"], "day");
    assert_eq!(body["series"].as_array().unwrap().len() % body["latency_series"].as_array().unwrap().len(), 0);
    let sum =
        |rows: &Value, name: &str| rows.as_array().unwrap().iter().map(|row| row[name].as_i64().unwrap()).sum::<i64>();
    assert_eq!(sum(&body["series"], "requests"), body["headline"]["requests"].as_i64().unwrap());
    assert_eq!(sum(&body["series"], "errors"), body["headline"]["errors"].as_i64().unwrap());

    let classes = overview(&other, &format!("{ids}&group_by=status_class"));
    let of_class = |class: &str| {
        let points = classes["series"].as_array().unwrap().iter().filter(|point| point["group_id"] == class);
        points.map(|point| point["requests"].as_i64().unwrap()).sum::<i64>()
    };
    assert!(of_class("2xx") >= 1 && of_class("4xx") == 1, "{classes:#}");
    let theirs = counted(&rival, "?group_by=api_key", 1);
    assert_eq!(theirs["keys"].as_array().unwrap().len(), 1);
    assert!(
        theirs["series"].as_array().unwrap().iter().all(|point| point["group_id"] == theirs["keys"][0]["api_key_id"])
    );
    // Keys of another organization are not shown.
    assert_eq!(overview(&rival, &ids)["headline"]["requests"], 0);
    assert_eq!(overview(&rival, &ids)["keys"], json!([]));
    let hours = overview(&client, "?interval=hour&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z");
    assert_eq!((hours["series"].as_array().unwrap().len(), &hours["headline"]["requests"]), (24, &json!(0)));
}

fn overview_shows_spending_by_key(database: Database) {
    let server = Server::start_with(database, "[billing]\nsearch_cents = 3\n");
    let organization = server.admin(&["org", "create", "--name", "acme", "--prepaid-cents", "7"]);
    let organization = crate::support::uuid_of(&organization["organization_id"]);
    let key = server.create_key(organization, &["--limit-rps", "1000"]);
    let client = server.client(key["key"].as_str(), organization);
    for _ in 0..2 {
        client.search_web("walrus");
    }
    client.search("walrus", json!({})).error(402, "insufficient_balance");
    let body = counted(&client, "", 3);
    assert_eq!(body["headline"]["spend_cents"], 6);
    assert_eq!(body["keys"][0]["spend_cents"], 6);
    let product = json!({ "product": "search", "label": "Search", "requests": 3, "spend_cents": 6 });
    assert_eq!(body["products"], json!([product]));
}

fn requests_before_shutdown_are_counted(database: Database) {
    let mut server = Server::start(database);
    let client = server.tenant("acme");
    for _ in 0..20 {
        client.search_web("walrus");
    }
    assert_eq!(server.stop().code(), Some(0));
    server.resume();
    assert_eq!(overview(&client, "")["headline"]["requests"], 20);
}

fn last_use_of_keys_is_recorded(database: Database) {
    let mut server = Server::start(database);
    let client = server.tenant("acme");
    let unused = server.create_key(client.organization, &[]);
    let organization = client.organization.to_string();
    let keys = |server: &Server| server.command(&["admin", "key", "list", "--org", &organization]).lines();
    assert!(keys(&server).iter().all(|key| key["last_used_at"].is_null()));
    client.search_web("walrus");
    let used = |keys: &[Value]| {
        let (not, used): (Vec<_>, Vec<_>) = keys.iter().partition(|key| key["api_key_id"] == unused["api_key_id"]);
        assert!(not[0]["last_used_at"].is_null(), "{not:#?}");
        let at = used[0]["last_used_at"].as_str()?;
        Some(time::OffsetDateTime::parse(at, &time::format_description::well_known::Rfc3339).unwrap())
    };
    let first = until("the use is recorded", Duration::from_secs(10), || used(&keys(&server)));
    assert!((time::OffsetDateTime::now_utc() - first).abs() < Duration::from_secs(30));
    // The last use before the shutdown is not lost.
    client.get("/v1/nothing");
    assert_eq!(server.stop().code(), Some(0));
    assert!(used(&keys(&server)).unwrap() > first);
}
