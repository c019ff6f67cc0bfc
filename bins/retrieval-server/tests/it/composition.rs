//! The production composition as a whole: PostgreSQL, Redis, Meilisearch and an S3 store of its own process.
//!
//! The tests are skipped without `TEST_DATABASE_URL`, `RATE_LIMIT_REDIS_URL`, `ACCEPT_INDEX_URL` and `TEST_S3_ENDPOINT`; the summary of
//! `cargo xtask test` reports which of them are missing.

use std::fs;
use std::time::Duration;

use serde_json::Value;
use url::Url;
use uuid::Uuid;

use crate::support::{Client, Database, Finished, Line, Proxy, Server, until};

const DEADLINE: Duration = Duration::from_secs(60);

/// The backends, each behind a proxy.
struct Backends {
    database: Proxy,
    rate_limit: Proxy,
    index: Proxy,
    storage: Proxy,
    /// Dropped at the end.
    _database: Database,
}

fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok().filter(|value| !value.is_empty());
    if value.is_none() {
        println!("NOT RUN: {name} is not set");
    }
    value
}

/// Starts a proxy of the service of a URL. Returns the URL through the proxy, too.
fn proxy(url: &str, default_port: u16) -> (Proxy, String) {
    let mut url = Url::parse(url).unwrap();
    let proxy = Proxy::start(&format!("{}:{}", url.host_str().unwrap(), url.port().unwrap_or(default_port)));
    let (host, port) = proxy.address.rsplit_once(':').unwrap();
    url.set_host(Some(host)).unwrap();
    url.set_port(port.parse().ok()).unwrap();
    (proxy, url.as_str().trim_end_matches('/').to_owned())
}

/// Prepares an instance on the composition; `None` if a backend is not there.
fn prepare() -> Option<(Server, Backends)> {
    let redis = variable("RATE_LIMIT_REDIS_URL")?;
    let meilisearch = variable("ACCEPT_INDEX_URL")?;
    let s3 = variable("TEST_S3_ENDPOINT")?;
    let [s3_key, s3_secret, bucket] = ["TEST_S3_KEY", "TEST_S3_SECRET", "TEST_S3_BUCKET"].map(variable);
    let (s3_key, s3_secret, bucket) = (s3_key?, s3_secret?, bucket?);
    let postgres = Database::postgres()?;
    let (database, database_url) = proxy(&postgres.url(), 5432);
    let (rate_limit, redis_url) = proxy(&redis, 6379);
    let (index, index_url) = proxy(&meilisearch, 7700);
    let (storage, s3_url) = proxy(&s3, 80);
    let key = std::env::var("ACCEPT_INDEX_KEY").unwrap_or_default();
    let prefix = format!("doctor-{}-", Uuid::new_v4().simple());
    let sections = format!(
        "[index]\nbackend = \"meilisearch\"\nurl = {index_url:?}\napi_key = {key:?}\nprefix = {prefix:?}\n\
         [rate_limit]\nbackend = \"redis\"\nurl = {redis_url:?}\n"
    );
    let server = Server::prepare(Database::Shared(database_url), &sections);
    let settings = fs::read_to_string(server.settings_file()).unwrap();
    let lines = format!(
        "[storage]\nbackend = \"s3\"\nendpoint = {s3_url:?}\nbucket = {bucket:?}\naccess_key_id = {s3_key:?}\n\
         secret_access_key = {s3_secret:?}\n"
    );
    fs::write(server.settings_file(), settings.replace("[storage]\n", &lines)).unwrap();
    Some((server, Backends { database, rate_limit, index, storage, _database: postgres }))
}

fn findings(done: &Finished) -> Vec<Value> {
    let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {done:#?}"));
    done.stdout.lines().map(parse).collect()
}

fn with_status<'a>(findings: &'a [Value], status: &str) -> Vec<&'a str> {
    let found = findings.iter().filter(|finding| finding["status"] == status);
    found.map(|finding| finding["check"].as_str().unwrap()).collect()
}

#[test]
fn doctor_passes_and_fails_with_a_hint_for_each_backend_that_is_gone() {
    let Some((mut server, backends)) = prepare() else { return };
    server.command(&["migrate"]).object();
    server.resume();
    let healthy = server.command(&["doctor", "--json"]);
    assert_eq!(healthy.code(), Some(0), "{healthy:#?}");
    let passed = findings(&healthy);
    assert!(with_status(&passed, "fail").is_empty() && with_status(&passed, "warn").is_empty(), "{passed:#?}");
    for check in ["database", "index", "storage", "rate_limit", "round_trip", "isolation"] {
        assert!(with_status(&passed, "pass").contains(&check), "{check}: {passed:#?}");
    }
    for (proxy, check, hint) in [
        (&backends.database, "database", "database.url"),
        (&backends.index, "index", "index.url"),
        (&backends.storage, "storage", "storage.endpoint"),
        (&backends.rate_limit, "rate_limit", "rate_limit.url"),
    ] {
        proxy.set(Line::Refusing);
        let done = server.command(&["doctor", "--json"]);
        assert_eq!(done.code(), Some(1), "{check}: {done:#?}");
        let findings = findings(&done);
        assert_eq!(with_status(&findings, "fail"), [check], "{findings:#?}");
        let failed = findings.iter().find(|finding| finding["check"] == check).unwrap();
        assert!(failed["hint"].as_str().unwrap().contains(hint), "{failed}");
        assert!(done.stderr.contains(&format!("failed checks: {check}")), "{}", done.stderr);
        proxy.set(Line::Open);
        // The running server recovers by itself.
        until("the server is ready again", DEADLINE, || {
            let state = Client::new(&server.operations(), None, Uuid::nil()).get("/readyz");
            (state.status == 200 && !state.text.contains("\"down\"")).then_some(())
        });
    }
    let again = server.command(&["doctor", "--json"]);
    assert_eq!(again.code(), Some(0), "{again:#?}");
}
