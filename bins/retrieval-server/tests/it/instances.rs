//! Two server instances on one database and one Redis.
//!
//! The tests are skipped without `RATE_LIMIT_REDIS_URL`; the summary of `cargo xtask test` reports that.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::endpoint::{Endpoint, Reply};
use uuid::Uuid;

use crate::support::{Client, Database, Server, instances, until, uuid_of};

on_both_databases!(
    two_instances_share_one_rate_limit,
    two_instances_share_one_balance,
    redis_outage_fails_open_or_closed
);

const CALLERS: usize = 16;
const CALLS: usize = 15;
const LIMIT: usize = 20;

fn redis_url() -> Option<String> {
    let url = std::env::var("RATE_LIMIT_REDIS_URL").ok().filter(|url| !url.is_empty());
    if url.is_none() {
        println!("NOT RUN: RATE_LIMIT_REDIS_URL is not set");
    }
    url
}

fn redis_settings(url: &str, more: &str) -> String {
    format!("[rate_limit]\nbackend = \"redis\"\nurl = {url:?}\n{more}\n[index]\nbackend = \"none\"\n")
}

/// Starts two instances on one database and one object store.
fn start_two(database: Database, store: &Server, sections: &str) -> [Server; 2] {
    let mut one = instances::instance(database, "all", &store.storage_address(), sections);
    one.command(&["migrate"]).object();
    one.resume();
    let mut other = instances::instance(one.same_database(), "all", &store.storage_address(), sections);
    other.resume();
    [one, other]
}

/// Sends a request; returns its rate limit window and whether it was admitted.
fn call(client: &Client) -> (String, bool) {
    let reply = client.get("/v1/files");
    assert!(matches!(reply.status, 200 | 429), "{reply:#?}");
    let window = reply.headers["x-ratelimit-reset"].to_str().unwrap().to_owned();
    (window, reply.status == 200)
}

fn two_instances_share_one_rate_limit(database: Database) {
    let Some(redis) = redis_url() else { return };
    let store = instances::store();
    let [one, other] = start_two(database, &store, &redis_settings(&redis, ""));
    let organization = one.create_organization("acme");
    let made = one.create_key(organization, &["--limit-rps", &LIMIT.to_string()]);
    let key = made["key"].as_str();
    let clients = [one.client(key, organization), other.client(key, organization)];
    // Warms the key cache of both instances, so that the calls below are fast.
    let mut responses: Vec<(String, bool)> = clients.iter().map(call).collect();
    let barrier = Barrier::new(CALLERS);
    std::thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let (client, barrier) = (&clients[caller % 2], &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    (0..CALLS).map(|_| call(client)).collect::<Vec<_>>()
                })
            })
            .collect();
        responses.extend(callers.into_iter().flat_map(|caller| caller.join().unwrap()));
    });
    let mut windows: Vec<&String> = responses.iter().map(|(window, _)| window).collect();
    windows.sort();
    windows.dedup();
    for window in windows {
        let of_window = || responses.iter().filter(|(answered, _)| answered == window);
        let admitted = of_window().filter(|(_, admitted)| *admitted).count();
        assert!(admitted <= LIMIT, "{admitted} admitted in the window that ends {window}");
        if of_window().count() > admitted {
            assert_eq!(admitted, LIMIT, "too many refused in the window that ends {window}");
        }
    }
    assert!(responses.iter().any(|(_, admitted)| !admitted), "the limit was never reached");
}

fn two_instances_share_one_balance(database: Database) {
    const SEARCHES: usize = 40;
    const CENTS: usize = 10;
    let provider = Endpoint::start(|_, _| Reply::json(200, &json!({ "results": [] })));
    let sections = format!(
        "[index]\nbackend = \"none\"\n[web]\nproviders = [\"index\", \"http\"]\n[web.http]\nurl = {:?}\n",
        provider.url("/search")
    );
    let store = instances::store();
    let [one, other] = start_two(database, &store, &sections);
    let cents = CENTS.to_string();
    let organization = one.admin(&["org", "create", "--name", "prepaid", "--prepaid-cents", &cents]);
    let organization = uuid_of(&organization["organization_id"]);
    let made = one.create_key(organization, &["--limit-rps", "100000"]);
    let clients = [&one, &other].map(|server| server.client(made["key"].as_str(), organization));
    let barrier = Barrier::new(SEARCHES);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let searches: Vec<_> = (0..SEARCHES)
            .map(|search| {
                let (client, barrier) = (&clients[search % 2], &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    client.search("walrus", json!({})).status
                })
            })
            .collect();
        searches.into_iter().map(|search| search.join().unwrap()).collect()
    });
    let count = |status| statuses.iter().filter(|other| **other == status).count();
    assert_eq!((count(200), count(402)), (CENTS, SEARCHES - CENTS), "{statuses:?}");
    let ledger = one.command(&["admin", "balance", "ledger", "--org", &organization.to_string()]).lines();
    assert_eq!(ledger.len(), 1 + CENTS);
    assert_eq!(ledger.iter().map(|entry| entry["cents"].as_i64().unwrap()).sum::<i64>(), 0);
}

fn limiter_state(server: &Server) -> Value {
    let ready = Client::new(&server.operations(), None, Uuid::nil()).get("/readyz").ok();
    let dependencies = ready["dependencies"].as_array().unwrap();
    dependencies.iter().find(|dependency| dependency["name"] == "rate_limit").unwrap().clone()
}

fn redis_outage_fails_open_or_closed(database: Database) {
    let open = Server::start_with(database, &redis_settings("redis://127.0.0.1:1", ""));
    let client = open.tenant("acme");
    let started = Instant::now();
    for _ in 0..20 {
        assert_eq!(client.get("/v1/files").status, 200);
    }
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!(open.log().matches("Redis is down").count(), 1, "one line per outage");
    let state = limiter_state(&open);
    assert_eq!((&state["state"], &state["required"]), (&json!("down"), &json!(false)), "{state:#}");
    assert_eq!(open.counted("retrieval_rate_limit_outages_total"), 1);
    assert_eq!(open.counted("retrieval_rate_limit_uncounted_total"), 20);
    assert_eq!(open.counted("retrieval_requests_total{route=\"GET /v1/files\",status=\"200\"}"), 20);
    assert_eq!(open.counted("retrieval_request_duration_seconds_count{route=\"GET /v1/files\"}"), 20);
    assert!(open.counted("process_resident_memory_bytes") > 1 << 20);

    let closed =
        Server::start_with(Database::sqlite(), &redis_settings("redis://127.0.0.1:1", "on_failure = \"closed\""));
    let reply = closed.tenant("acme").get("/v1/files");
    reply.error(500, "internal_error");
    assert_eq!(reply.headers["x-ratelimit-remaining"], "0");

    let refused = Server::prepare(Database::sqlite(), &redis_settings("redis://u:hunter2@h:99999", ""));
    let ended = refused.command(&["serve"]);
    assert_eq!(ended.code(), Some(1));
    assert!(ended.stderr.contains("rate_limit.url") && !ended.stderr.contains("hunter2"), "{}", ended.stderr);

    let Some(redis) = redis_url() else { return };
    let counted = Server::start_with(Database::sqlite(), &redis_settings(&redis, ""));
    until("Redis is up", Duration::from_secs(10), || (limiter_state(&counted)["state"] == "up").then_some(()));
}
