//! Requests and output of the commands.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::mock_server::{MockServer, Reply, Request};
use crate::program::{Home, finish};

const ID: &str = "5b0f3a52-2a0c-4ad1-9b1b-9cf8a4c4a001";

fn search() -> Value {
    let result = json!({ "rank": 1, "doc_id": ID, "canonical_url": "https://a.example/tides",
        "title": "Tides \u{1b}[31mred", "snippet": "The moon\u{9b}2J pulls." });
    json!({ "request_id": ID, "search_id": ID, "session_id": ID, "results": [result], "tomorrow": [1],
        "warnings": [{ "code": "rerank_unavailable", "message": "first-stage order" }] })
}

fn document(request: &Request, whole: &str) -> Value {
    let content = &request.json()["content"];
    let range = &content["range"];
    let start = usize::try_from(range["start_char"].as_u64().unwrap_or(0)).unwrap();
    let most = range["max_chars"].as_u64().or(content["max_chars"].as_u64()).unwrap_or(u64::MAX);
    let rest: Vec<char> = whole.chars().skip(start).collect();
    let text: String = rest.iter().take(usize::try_from(most).unwrap()).collect();
    let count = text.chars().count();
    json!({
        "request_id": ID, "session_id": ID,
        "access": { "rate_limit": { "limit_rps": 9, "remaining": 8, "reset_at": "2026-01-05T10:00:01Z" } },
        "doc": { "doc_id": ID, "canonical_url": "https://a.example/", "source_url": "https://a.example/",
            "title": "Tides", "first_seen_at": "2026-01-05T10:00:00Z", "last_seen_at": "2026-01-05T10:00:00Z" },
        "content": { "selection": "full_document", "format": "markdown", "text": text, "char_count": count,
            "start_char": start, "truncated": count < rest.len() },
        "provenance": { "capture_id": ID, "capture_time": "2026-01-05T10:00:00Z" },
    })
}

#[test]
fn search_flags_reach_the_service() {
    let server = MockServer::start(|_, _| Reply::json(200, &search()));
    let arguments = [
        "search",
        "how",
        "do tides work",
        "--scope",
        "all",
        "--workspace-id",
        ID,
        "-n",
        "5",
        "-d",
        "a.example",
        "-d",
        "b.example",
        "--exclude-domain",
        "c.example",
        "--only-domains",
        "--language",
        "en",
        "--country",
        "gb",
        "--exact",
        "--freshness",
        "week",
        "--published-after",
        "2026-01-01",
        "--rewrite",
        "tide cause",
        "-v",
        "full",
        "--budget",
        "900",
        "--strict-budget",
        "--client-model",
        "m",
        "--session",
        ID,
        "--json",
    ];
    let done = Home::new().run_at(&server, &arguments);
    assert_eq!(done.json(), [search()]);
    let request = &server.requests()[0];
    assert_eq!(request.header("x-session-id"), Some(ID));
    let expected = json!({
        "query": "how do tides work", "max_results": 5, "client_model": "m", "search_queries": ["tide cause"],
        "scope": { "indexes": ["web", "workspace"], "workspace_id": ID },
        "source_policy": { "include_domains": ["a.example", "b.example"], "exclude_domains": ["c.example"],
            "require_domain_match": true },
        "filters": { "language": "en", "country": "gb", "exact_match": true },
        "freshness_policy": { "freshness": "pw", "published_after": "2026-01-01" },
        "response": { "verbosity": "full", "budget": { "max_chars_total": 900, "on_exceed": "error" } },
    });
    assert_eq!(request.json(), expected);
}

#[test]
fn search_output_is_sanitized_and_has_warnings() {
    let server = MockServer::start(|_, _| Reply::json(200, &search()));
    let done = Home::new().run_at(&server, &["search", "tides"]);
    assert_eq!(done.code, Some(0), "{done:#?}");
    assert!(done.stdout.contains("https://a.example/tides") && done.stdout.contains("Tides ␛[31mred"), "{done:#?}");
    assert!(done.stderr.contains("rerank_unavailable") && done.stderr.contains(ID), "{done:#?}");
    assert!(!done.stdout.chars().any(|c| c.is_control() && c != '\n'), "{done:#?}");
    let coloured = Home::new().run_at(&server, &["search", "tides", "--color", "always", "--quiet"]);
    assert!(coloured.stdout.contains("\u{1b}[1mTides") && coloured.stderr.is_empty(), "{coloured:#?}");
}

#[test]
fn piped_content_is_unchanged() {
    let whole = "# Tides\r\n\u{1b}[31m潮\n";
    let server = MockServer::start(move |request, _| Reply::json(200, &document(request, whole)));
    let done = Home::new().run_at(&server, &["read", ID]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), whole));
    assert!(done.stderr.contains("Tides  https://a.example/"), "{done:#?}");
    let expected = json!({ "doc_id": ID, "include": ["content"], "content": { "max_chars": 20000 } });
    assert_eq!(server.requests()[0].json(), expected, "passages would repeat the content");
}

#[test]
fn age_of_content_is_requested() {
    let server = MockServer::start(|request, _| Reply::json(200, &document(request, "Tides.")));
    let options = "--max-age 0 --cached --timeout-ms 500 --query tides --max-passages 2";
    let arguments: Vec<&str> = ["read", ID].into_iter().chain(options.split(' ')).collect();
    assert_eq!(Home::new().run_at(&server, &arguments).code, Some(0));
    let body = server.requests()[0].json();
    let expected = json!({ "doc_id": ID, "include": ["content"], "query": "tides", "max_age_seconds": 0,
        "cache_only": true, "timeout_ms": 500,
        "content": { "selection": "query_relevant", "max_chars": 20000, "max_passages": 2 } });
    assert_eq!(body, expected);
}

#[test]
fn several_documents_are_read_in_one_request() {
    let server = MockServer::start(|request, _| {
        let documents = request.json()["documents"].as_array().cloned().unwrap_or_default();
        let failed = |code: &str| json!({ "status": "error", "error": { "code": code, "message": "refused" } });
        let result = |target: &Value| match target["canonical_url"].as_str() {
            None => failed("document_not_found"),
            Some("ftp://a.example/") => failed("validation_error"),
            Some("https://a.example/busy") => failed("overloaded"),
            Some(url) => {
                let doc = json!({ "doc_id": ID, "canonical_url": url, "source_url": url,
                    "first_seen_at": "2026-01-05T10:00:00Z", "last_seen_at": "2026-01-05T10:00:00Z" });
                let content = json!({ "selection": "full_document", "format": "markdown", "text": format!("On {url}"),
                    "truncated": false, "char_count": 5 });
                json!({ "status": "ok", "document": { "doc": doc, "content": content } })
            }
        };
        let access = json!({ "rate_limit": { "limit_rps": 9, "remaining": 8, "reset_at": "2026-01-05T10:00:01Z" } });
        let results: Vec<Value> = documents.iter().map(result).collect();
        Reply::json(200, &json!({ "request_id": ID, "session_id": ID, "access": access, "results": results }))
    });
    let home = Home::new();
    let (first, second) = ("https://a.example/1", "https://a.example/2");
    let done = home.run_at(&server, &["read", first, second, "--max-chars", "9000"]);
    assert_eq!(done.code, Some(0), "{done:#?}");
    let (one, two) = (done.stdout.find("On https://a.example/1"), done.stdout.find("On https://a.example/2"));
    assert!(one.is_some() && one < two, "{done:#?}");
    let expected = json!({ "documents": [{ "canonical_url": first }, { "canonical_url": second }],
        "include": ["content"], "response": { "budget": { "max_chars_total": 9000 } } });
    assert_eq!(server.requests()[0].json(), expected);
    let done = home.run_at(&server, &["read", first, ID]);
    assert_eq!(done.code, Some(7), "{done:#?}");
    assert!(done.stdout.contains("On ") && done.stderr.contains("document_not_found"), "{done:#?}");
    let done = home.run_at(&server, &["read", ID, ID, "--json"]);
    assert_eq!((done.code, done.stdout.contains("document_not_found")), (Some(4), true), "{done:#?}");
    assert_eq!(done.error()["code"], "document_not_found");
    let done = home.run_at(&server, &["read", first, ID, "--quiet"]);
    assert_eq!(done.code, Some(7), "{done:#?}");
    assert!(done.stderr.contains(&format!("{ID}: refused (document_not_found)")), "{done:#?}");
    // No document is read: the first one decides.
    for (document, code) in [("ftp://a.example/", 2), (ID, 4), ("https://a.example/busy", 5)] {
        let done = home.run_at(&server, &["read", document, ID]);
        assert_eq!(done.code, Some(code), "{done:#?}");
        assert!(done.stderr.contains("2 of 2 documents could not be read: refused"), "{done:#?}");
    }
    assert_eq!(home.run_at(&server, &["read", first, second, "--all"]).code, Some(2));
}

#[test]
fn limits_of_a_search_are_requested() {
    let server = MockServer::start(|_, _| {
        let body = json!({ "request_id": ID, "search_id": ID, "session_id": ID, "degraded": true, "results": [] });
        Reply::json(200, &body)
    });
    let options = "--max-passages 1 --max-chars-per-result 900 --timeout-ms 250 --published-before 2026-01-05";
    let arguments: Vec<&str> = ["search", "tides"].into_iter().chain(options.split(' ')).collect();
    let done = Home::new().run_at(&server, &arguments);
    assert!(done.code == Some(0) && done.stderr.contains("degraded"), "{done:#?}");
    let expected = json!({ "query": "tides", "timeout_ms": 250,
        "freshness_policy": { "published_before": "2026-01-05" },
        "response": { "max_passages_per_result": 1, "max_chars_per_result": 900 } });
    assert_eq!(server.requests()[0].json(), expected);
}

#[test]
fn long_document_is_read_in_parts_or_whole() {
    let server = MockServer::start(|request, _| Reply::json(200, &document(request, "0123456789\n")));
    let home = Home::new();
    let part = home.run_at(&server, &["read", "https://a.example/", "--max-chars", "4", "--start", "2"]);
    assert_eq!(part.stdout, "2345\n");
    assert!(part.stderr.contains(&format!("--start 6 --capture {ID}")), "{part:#?}");
    let whole = home.run_at(&server, &["read", "https://a.example/", "--all", "--max-chars", "4"]);
    assert_eq!(whole.stdout, "0123456789\n");
    let pages = home.run_at(&server, &["read", "https://a.example/", "--all", "--max-chars", "4", "--json"]).json();
    let texts: Vec<_> = pages.iter().map(|page| page["content"]["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["0123", "4567", "89\n"]);
}

#[test]
fn truncated_passages_do_not_continue_at_an_offset() {
    let server = MockServer::start(|request, _| {
        let mut body = document(request, "0123456789\n");
        body["content"]["selection"] = request.json()["content"]["selection"].clone();
        Reply::json(200, &body)
    });
    let done = Home::new().run_at(&server, &["read", ID, "--query", "tides", "--max-chars", "4"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), "0123\n"), "{done:#?}");
    assert!(done.stderr.contains("raise --max-chars") && !done.stderr.contains("--start"), "{done:#?}");
}

#[test]
fn document_without_content_is_not_found() {
    let server = MockServer::start(|request, _| {
        let mut body = document(request, "");
        body.as_object_mut().unwrap().remove("content");
        body["warnings"] = json!([{ "code": "content_unavailable", "message": "it could not be fetched" }]);
        Reply::json(200, &body)
    });
    let done = Home::new().run_at(&server, &["read", "https://a.example/"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(4), ""));
    assert!(done.stderr.contains("content_unavailable"), "{done:#?}");
    for arguments in [&["read", "https://a.example/", "--json"][..], &["read", ID, "--all", "--json"]] {
        let done = Home::new().run_at(&server, arguments);
        assert_eq!((done.code, &done.error()["exit_status"]), (Some(4), &json!(4)), "{done:#?}");
        let printed: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(printed["warnings"][0]["code"], "content_unavailable", "the response is printed, too");
    }
}

#[test]
fn feedback_is_stored() {
    let server = MockServer::start(|_, _| {
        let access = json!({ "rate_limit": { "limit_rps": 9, "remaining": 8, "reset_at": "2026-01-05T10:00:01Z" } });
        let body = json!({ "request_id": ID, "session_id": ID, "accepted": true, "feedback_id": ID, "access": access });
        Reply::json(200, &body)
    });
    let arguments = ["feedback", "result_helpful", "--doc", ID, "--search", ID, "--rank", "2", "--comment", "good"];
    let done = Home::new().run_at(&server, &arguments);
    assert_eq!((done.code, done.stdout), (Some(0), format!("stored as {ID}\n")));
    let expected =
        json!({ "event_type": "result_helpful", "doc_id": ID, "search_id": ID, "rank": 2, "comment": "good" });
    assert_eq!(server.requests()[0].json(), expected);
}

#[test]
fn closed_pipe_is_success() {
    let whole = "x".repeat(1 << 20);
    let server = MockServer::start(move |request, _| Reply::json(200, &document(request, &whole)));
    let home = Home::new();
    let mut command = home.command_at(&server, &["read", ID, "--all", "--quiet"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let done = finish(child);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
}

#[test]
fn completions_and_manual_are_generated() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = home.run(&["completions", shell]);
        assert!(script.code == Some(0) && script.stdout.contains("retrieval"), "{shell}");
    }
    let page = home.run(&["man"]);
    assert!(page.stdout.contains(".TH retrieval") && page.stdout.contains("Exit status"), "{page:#?}");
    assert_eq!(home.run(&["man", "--out", "pages"]).code, Some(0));
    assert!(home.path().join("pages/retrieval-files-add.1").is_file());
}
