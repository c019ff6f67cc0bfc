//! Export of traces to a collector: what it receives, and that nobody waits for it.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::collector::{Collector, OK};
use crate::support::{Client, Database, Reply, Server, until};

/// Deadline of spans, and of the attempts to send them.
const DEADLINE: Duration = Duration::from_secs(30);
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

fn settings(url: &str, more: &str) -> String {
    format!("[telemetry]\notlp_url = \"{url}\"\notlp_api_key = \"collector-key\"\n{more}\n[log]\nformat = \"json\"\n")
}

fn page(text: &str) -> Value {
    json!({ "url": "https://example.com/", "text": text })
}

/// Searches as a part of a caller's trace.
fn search(client: &Client, trace: &str, flags: &str) -> Reply {
    let parent = format!("00-{trace}-{CALLER}-{flags}");
    client.send("POST", "/v1/search", &[("traceparent", &parent)], Some(br#"{"query": "walrus"}"#))
}

/// Returns the spans of all requests since the last call.
fn received(collector: &Collector) -> Vec<Value> {
    collector.rest().iter().flat_map(|request| request.spans()).collect()
}

/// Waits for the span of a request, which ends after its parts, and returns all spans.
fn spans_with(collector: &Collector, root: &str) -> Vec<Value> {
    let mut spans = Vec::new();
    until("the span of the request", DEADLINE, || {
        spans.extend(received(collector));
        spans.iter().any(|span| span["name"] == root).then_some(())
    });
    spans
}

fn named<'a>(spans: &'a [Value], name: &str) -> &'a Value {
    spans.iter().find(|span| span["name"] == name).unwrap_or_else(|| panic!("no `{name}` in {spans:#?}"))
}

fn attribute<'a>(span: &'a Value, key: &str) -> &'a Value {
    let attributes = span["attributes"].as_array().unwrap();
    let found = attributes.iter().find(|attribute| attribute["key"] == key);
    &found.unwrap_or_else(|| panic!("no `{key}` in {span}"))["value"]
}

on_both_databases!(search_is_a_part_of_its_callers_trace);

fn search_is_a_part_of_its_callers_trace(database: Database) {
    let collector = Collector::start(&[OK]);
    let mut server = Server::prepare(database, &settings(&collector.url(), ""));
    if server.database.is_postgres() {
        server.command(&["migrate"]).object();
    }
    server.import(&[page("A walrus at the sea.")]);
    server.resume();
    let client = server.tenant("acme");
    let reply = search(&client, TRACE, "01");
    assert_eq!(reply.status, 200, "{reply:#?}");
    let spans = spans_with(&collector, "POST /v1/search");
    assert!(spans.iter().all(|span| span["traceId"] == TRACE), "{spans:#?}");

    let root = named(&spans, "POST /v1/search");
    assert_eq!((&root["parentSpanId"], &root["kind"]), (&json!(CALLER), &json!(2)));
    assert_eq!(root["status"], json!({}));
    assert_eq!(attribute(root, "http.route"), &json!({ "stringValue": "/v1/search" }));
    assert_eq!(attribute(root, "http.response.status_code"), &json!({ "intValue": "200" }));
    let request_id = reply.header("x-request-id").unwrap();
    assert_eq!(attribute(root, "request_id"), &json!({ "stringValue": request_id }));
    for step in ["search first_stage", "search load", "search rank", "search quote", "search record"] {
        assert_eq!(named(&spans, step)["parentSpanId"], root["spanId"], "{step}");
    }
    let query = named(&spans, "database load_for_ranking");
    assert_eq!(query["parentSpanId"], named(&spans, "search load")["spanId"]);
    let nanos = |span: &Value, time: &str| span[time].as_str().unwrap().parse::<u64>().unwrap();
    for span in &spans {
        let (start, end) = (nanos(span, "startTimeUnixNano"), nanos(span, "endTimeUnixNano"));
        assert!(nanos(root, "startTimeUnixNano") <= start && start <= end, "{span}");
    }

    let line =
        server.log().lines().find(|line| line.contains("\"access\"") && line.contains(request_id)).map(str::to_owned);
    assert!(line.unwrap().contains(TRACE), "the log has the same trace");
    let exported = Value::from(spans).to_string();
    for secret in ["walrus", "example.com", client.key.as_deref().unwrap(), &client.organization.to_string()] {
        assert!(!exported.contains(secret), "{secret}: {exported}");
    }
}

#[test]
fn failures_and_unknown_paths_have_spans_without_text_of_callers() {
    let collector = Collector::start(&[OK]);
    let mut server = Server::start_with(Database::sqlite(), &settings(&collector.url(), ""));
    let client = server.tenant("acme");
    assert_eq!(client.get("/v1/files/secret-name.txt").status, 404);
    assert_eq!(client.get("/secret-path").status, 404);
    assert_eq!(client.with_key(Some("rk_wrong")).get("/v1/files").status, 401);
    assert!(status_line(&server.base(), "SECRETMETHOD", "/docs").starts_with("HTTP/1.1 405 "));
    assert_eq!(server.stop().code(), Some(0));
    let requests = collector.rest();
    assert!(requests.iter().all(|one| one.head.to_lowercase().contains("authorization: bearer collector-key\r\n")));
    let spans: Vec<Value> = requests.iter().flat_map(|request| request.spans()).collect();
    for (name, status) in
        [("GET /v1/files/{name}", "404"), ("(unmatched)", "404"), ("GET /v1/files", "401"), ("_OTHER /docs", "405")]
    {
        let span = named(&spans, name);
        assert_eq!(attribute(span, "http.response.status_code"), &json!({ "intValue": status }));
        assert_eq!(span["status"], json!({}), "faults of clients are no failures of the service");
        assert!(span.get("parentSpanId").is_none());
    }
    let exported = Value::from(spans).to_string();
    let texts = ["secret", "SECRET", "rk_wrong"];
    assert!(texts.iter().all(|text| !exported.contains(text)), "{exported}");
}

/// Returns the first line of the response to a request with a method that clients refuse to send.
fn status_line(base: &str, method: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(base.trim_start_matches("http://")).unwrap();
    write!(stream, "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line
}

#[test]
fn caller_or_ratio_decides_which_traces_are_recorded() {
    let collector = Collector::start(&[OK]);
    let mut server = Server::start_with(Database::sqlite(), &settings(&collector.url(), "sample_ratio = 0.0"));
    let client = server.tenant("acme");
    client.get("/v1/me").ok();
    search(&client, &"1".repeat(32), "00").ok();
    search(&client, &"2".repeat(32), "01").ok();
    assert_eq!(server.stop().code(), Some(0));
    let spans = received(&collector);
    assert!(!spans.is_empty() && spans.iter().all(|span| span["traceId"] == "2".repeat(32)), "{spans:#?}");
}

#[test]
fn indexing_runs_are_traces() {
    let collector = Collector::start(&[OK]);
    let server = Server::start_with(Database::sqlite(), &settings(&collector.url(), ""));
    let client = server.tenant("acme");
    client.upload("tides.txt", "The moon moves the tides.");
    let sync_id = client.start_run("incremental");
    client.finish_run(&sync_id);
    let spans = spans_with(&collector, "indexing run");
    assert_eq!(named(&spans, "indexing run")["traceId"], sync_id.replace('-', ""));
}

#[test]
fn stalled_collector_delays_neither_requests_nor_the_end() {
    let collector = Collector::start(&[]);
    let mut server = Server::start_with(Database::sqlite(), &settings(&collector.url(), ""));
    let client = server.tenant("acme");
    search(&client, TRACE, "01").ok();
    collector.next();
    // The exporter waits for an answer from now on.
    (0..20).for_each(|_| drop(search(&client, TRACE, "01").ok()));
    assert_eq!(server.stop().code(), Some(0));
    assert!(server.log().contains("the last spans of traces were not sent in time"), "{}", server.log());
}

#[test]
fn spans_that_a_dead_collector_costs_are_counted() {
    let server = Server::start_with(Database::sqlite(), &settings("http://127.0.0.1:9", ""));
    let client = server.tenant("acme");
    search(&client, TRACE, "01").ok();
    let dropped = r#"retrieval_trace_spans_dropped_total{reason="unavailable"}"#;
    until("the spans are given up", DEADLINE, || (server.counted(dropped) > 0).then_some(()));
    assert_eq!(server.counted("retrieval_trace_spans_exported_total"), 0);
    search(&client, TRACE, "01").ok();
    let complaints = server.log().lines().filter(|line| line.contains("spans of traces are dropped")).count();
    assert_eq!(complaints, 1, "an outage is logged once");
}

#[test]
fn doctor_asks_the_collector() {
    let finding = |url: &str| {
        let server = Server::prepare(Database::sqlite(), &settings(url, ""));
        let done = server.command(&["doctor", "--json"]);
        assert_eq!(done.code(), Some(0), "{done:#?}");
        done.lines().into_iter().find(|finding| finding["check"] == "traces").unwrap()
    };
    let collector = Collector::start(&[OK]);
    assert_eq!(finding(&collector.url())["status"], "pass");
    assert_eq!(collector.next().body, json!({ "resourceSpans": [] }));
    let dead = finding("http://127.0.0.1:9");
    assert_eq!(dead["status"], "warn");
    assert!(dead["hint"].as_str().unwrap().contains("telemetry.otlp_url"), "{dead}");
}
