//! Metrics of a fresh server, compared with the files that monitor it and with their documentation.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{Client, Database, Server, until};

/// Deadline of a start, and of two intervals of counts.
const DEADLINE: Duration = Duration::from_secs(30);

const ALERTS: &str = include_str!("../../../../config/monitoring/alerts.yml");
const DASHBOARD: &str = include_str!("../../../../config/monitoring/dashboard.json");
const ALERTS_PAGE: &str = include_str!("../../../../docs/alerts.md");
const OPERATIONS_PAGE: &str = include_str!("../../../../docs/operations.md");

/// Returns the names of this program's metrics in a text.
fn names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("retrieval_") || word.starts_with("process_")).collect()
}

/// Returns the first scrape of a server that has served nothing but it.
fn first_scrape() -> String {
    let server = Server::start(Database::sqlite());
    Client::new(&server.operations(), None, Uuid::nil()).get("/metrics").text
}

/// Returns the series of a scrape, as `name` or `name{label="value",...}`.
fn series(scrape: &str) -> Vec<&str> {
    let samples = scrape.lines().filter(|line| !line.starts_with('#'));
    samples.filter_map(|line| line.rsplit_once(' ').map(|(series, _)| series)).collect()
}

#[test]
fn every_metric_that_is_monitored_or_documented_is_in_the_first_scrape() {
    let scrape = first_scrape();
    let served: BTreeSet<&str> = series(&scrape).into_iter().filter_map(|series| series.split('{').next()).collect();
    for (file, text) in [("alerts.yml", ALERTS), ("dashboard.json", DASHBOARD), ("docs/operations.md", OPERATIONS_PAGE)]
    {
        let exists = |name: &&str| served.contains(*name) || served.contains(format!("{name}_count").as_str());
        let missing: Vec<&str> = names(text).into_iter().filter(|name| !exists(name)).collect();
        assert!(missing.is_empty(), "{file} names {missing:?}, which a fresh server does not serve:\n{scrape}");
    }
}

/// Returns the names of the families of a scrape, without the suffixes of histograms.
fn families(scrape: &str) -> BTreeSet<&str> {
    let typed = scrape.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
    typed.collect()
}

#[test]
fn every_metric_is_documented_and_in_the_dashboard() {
    let scrape = first_scrape();
    for (file, text) in [("docs/operations.md", OPERATIONS_PAGE), ("dashboard.json", DASHBOARD)] {
        let named = names(text);
        let is_named = |family: &&str| {
            named.contains(*family)
                || ["_bucket", "_sum", "_count"]
                    .iter()
                    .any(|suffix| named.contains(format!("{family}{suffix}").as_str()))
        };
        let missing: Vec<&str> = families(&scrape).into_iter().filter(|family| !is_named(family)).collect();
        assert!(missing.is_empty(), "{file} lacks {missing:?}");
    }
}

#[test]
fn label_values_are_in_the_first_scrape() {
    let scrape = first_scrape();
    let series = series(&scrape);
    let labelled = |name: &str, label: &str| {
        series.iter().any(|series| series.starts_with(&format!("{name}{{")) && series.contains(label))
    };
    for (name, label) in [
        ("retrieval_requests_total", r#"route="POST /v1/search",status="200""#),
        ("retrieval_requests_total", r#"route="GET /v1/me",status="500""#),
        ("retrieval_requests_total", r#"route="POST /mcp",status="503""#),
        ("retrieval_requests_total", r#"route="POST /compat/tavily/search",status="200""#),
        ("retrieval_requests_total", r#"route="GET /read/{url}",status="502""#),
        ("retrieval_requests_total", r#"route="(unmatched)",status="404""#),
        ("retrieval_request_duration_seconds_count", r#"route="POST /v1/document""#),
        ("retrieval_research_duration_seconds_bucket", r#"le="900""#),
        ("retrieval_web_provider_requests_total", r#"provider="brave",outcome="rate_limited""#),
        ("retrieval_web_provider_requests_total", r#"provider="http",outcome="cached""#),
        ("retrieval_files_total", r#"outcome="failed""#),
        ("retrieval_indexed_documents_total", r#"index="web""#),
        ("retrieval_webhook_attempts_total", r#"outcome="failed""#),
        ("retrieval_task_panics_total", r#"task="feeder""#),
        ("retrieval_overloaded_total", r#"work="search""#),
        ("retrieval_overloaded_total", r#"work="responses""#),
        ("retrieval_connections_refused_total", r#"listener="storage",reason="full""#),
        ("retrieval_outbox_entries", r#"index="workspace""#),
        ("retrieval_index_runs", r#"state="queued""#),
        ("retrieval_build_info", r#"version=""#),
        ("retrieval_search_stage_duration_seconds_count", r#"stage="first_stage""#),
        ("retrieval_search_stage_duration_seconds_count", r#"stage="rerank""#),
        ("retrieval_fetches_total", r#"outcome="robots""#),
        ("retrieval_warnings_total", r#"code="index_empty""#),
        ("retrieval_warnings_total", r#"code="content_unavailable""#),
        ("retrieval_requests_in_progress", r#"work="search",state="waiting""#),
        ("retrieval_admission_wait_seconds_count", r#"work="read""#),
        ("retrieval_database_connections", r#"state="in_use""#),
        ("retrieval_index_documents", r#"index="workspace""#),
        ("retrieval_research_unfinished", r#"status="queued""#),
        ("retrieval_trace_spans_dropped_total", r#"reason="queue_full""#),
        ("retrieval_dependency_up", r#"name="database""#),
        ("retrieval_dependency_up", r#"name="disk""#),
    ] {
        assert!(labelled(name, label), "{name} {label}:\n{scrape}");
    }
}

/// Returns the queries of the alerts and of the dashboard.
fn queries() -> Vec<String> {
    let alerts: Value = serde_yaml_ng::from_str(ALERTS).unwrap();
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let lists = |parents: &Value, list: &str| -> Vec<Value> {
        let parents = parents.as_array().unwrap().iter();
        parents.filter_map(|parent| parent[list].as_array()).flatten().cloned().collect()
    };
    let rules = [lists(&alerts["groups"], "rules"), lists(&dashboard["panels"], "targets")].concat();
    rules.iter().map(|rule| rule["expr"].as_str().unwrap().to_owned()).collect()
}

/// Returns the labels that a query compares: metric, label and value, one for each of `a|b`.
fn compared(query: &str) -> Vec<(&str, &str, &str)> {
    let mut found = Vec::new();
    for (brace, _) in query.match_indices('{') {
        let is_other = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let name = query[..brace].rsplit(is_other).next().unwrap();
        let mut rest = &query[brace + 1..];
        while let Some((comparison, quoted)) = rest.split_once('"') {
            let label = comparison.trim().split(is_other).next().unwrap();
            let Some((values, after)) = quoted.split_once('"') else { break };
            found.extend(values.split('|').map(|value| (name, label, value)));
            let Some(next) = after.strip_prefix(',') else { break };
            rest = next;
        }
    }
    // Others are not metrics of this program, or braces within a value.
    found.retain(|(name, ..)| name.starts_with("retrieval_") || name.starts_with("process_"));
    // Prometheus adds these.
    found.retain(|(_, label, _)| !["instance", "job"].contains(label));
    found
}

#[test]
fn every_label_that_a_query_compares_is_in_the_first_scrape() {
    let example = r#"a{b="c"} + sum(rate(retrieval_x{instance=~"$i", route="GET /{url}",status=~"500|502"}[5m]))"#;
    let expected = [("route", "GET /{url}"), ("status", "500"), ("status", "502")];
    assert_eq!(compared(example), expected.map(|(label, value)| ("retrieval_x", label, value)));

    let scrape = first_scrape();
    let series = series(&scrape);
    let queries = queries();
    let pairs: BTreeSet<_> = queries.iter().flat_map(|query| compared(query)).collect();
    assert!(pairs.contains(&("retrieval_index_runs", "state", "queued")), "{pairs:?}");
    for (name, label, value) in pairs {
        let has_label = |series: &&str| {
            let labels = series.strip_prefix(name).and_then(|labels| labels.strip_prefix('{'));
            let pair = format!("{label}=\"{value}\"");
            labels.is_some_and(|labels| labels.starts_with(&pair) || labels.contains(&format!(",{pair}")))
        };
        assert!(series.iter().any(has_label), "{name} has no {label} = {value}:\n{scrape}");
    }
}

#[test]
fn searches_through_every_interface_are_measured() {
    let server = Server::start(Database::sqlite());
    let client = server.tenant("acme");
    let query = json!({"query": "tides"});
    let call = json!({"name": "search", "arguments": query});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call});
    let answers = [
        client.post("/v1/search", &query),
        client.post("/mcp", &message),
        client.post("/compat/tavily/search", &query),
        client.get("/compat/searxng/search?format=json&q=tides"),
    ];
    assert_eq!(answers.map(|answer| answer.status), [200; 4]);
    assert_eq!(client.post("/v1/search", &json!({"query": ""})).status, 400);
    assert_eq!(server.counted("retrieval_search_duration_seconds_count"), 4, "refused searches do not count");
}

#[test]
fn work_that_waits_for_an_unreachable_index_is_counted() {
    let index = "[index]\nbackend = \"meilisearch\"\nurl = \"http://127.0.0.1:9\"\n";
    let mut server = Server::prepare(Database::sqlite(), index);
    server.spawn();
    // It is not ready without its index.
    let scrape = |server: &Server| {
        let reply = ureq::get(format!("{}/metrics", server.operations())).config().proxy(None).build().call();
        reply.ok().map(|mut reply| reply.body_mut().read_to_string().unwrap())
    };
    until("the server listens", DEADLINE, || scrape(&server));
    let client = server.tenant("acme");
    client.upload("tides.txt", "The moon moves the tides.");
    client.start_run("incremental");
    for waiting in [r#"retrieval_outbox_entries{index="workspace"} 1"#, r#"retrieval_index_runs{state="running"} 1"#] {
        until(waiting, DEADLINE, || scrape(&server).filter(|scrape| scrape.lines().any(|line| line == waiting)));
    }
}

#[test]
fn every_alert_is_explained() {
    let alerts: BTreeSet<&str> = ALERTS.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    let explained: BTreeSet<&str> = ALERTS_PAGE
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .filter(|heading| heading.starts_with("Retrieval"))
        .collect();
    assert!(!alerts.is_empty());
    assert_eq!(alerts, explained);
}

#[test]
fn dashboard_has_a_query_in_every_panel() {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let ids: BTreeSet<i64> = panels.iter().map(|panel| panel["id"].as_i64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len(), "each panel has its own id");
    for panel in panels.iter().filter(|panel| panel["type"] != "row") {
        let targets = panel["targets"].as_array().unwrap();
        assert!(!targets.is_empty(), "{panel}");
        for target in targets {
            assert!(target["expr"].as_str().is_some_and(|query| query.contains("retrieval")), "{panel}");
        }
    }
}
