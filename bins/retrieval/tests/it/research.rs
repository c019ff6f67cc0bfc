//! `retrieval research`.

use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::mock_server::{MockServer, Reply, Request};
use crate::program::{Home, finish};
use crate::terminal::Pty;

const ID: &str = "0190a6d4-0b7e-7d51-8a36-5e2f9c1d7b80";

fn run(status: &str) -> Value {
    let output = json!({
        "format": "markdown", "text": "# Tides\n\nThe moon \u{1b}[2Jpulls. [1]\n", "structured": null, "truncated": false,
        "engine": "extractive", "basis": [], "unanswered": [], "sources_considered": 1, "citations": [{
            "n": 1, "doc_id": ID, "capture_id": ID, "capture_time": "2026-01-05T10:00:00Z", "index": "web",
            "canonical_url": "https://a.example/tides", "title": "Tides\u{9b}2J", "quote": "The moon\n\u{1b}[2Jpulls.",
            "published_at": "2026-01-05T10:00:00Z", "char_start": 0, "char_end": 5, "verified": true }],
    });
    let error = json!({ "code": "provider_unavailable", "message": "the index is down" });
    json!({
        "request_id": ID, "research_id": ID, "session_id": ID, "query": "why tides?\u{1b}[2J", "status": status,
        "stop_reason": null, "created_at": "2026-01-05T10:00:00Z", "started_at": null, "completed_at": null,
        "expires_at": "2026-02-05T10:00:00Z", "plan": [], "warnings": [], "metadata": {}, "usage": null,
        "output": if status == "completed" { output } else { Value::Null },
        "error": if status == "failed" { error } else { Value::Null },
        "progress": { "phase": "planning", "searches": 0, "documents_read": 0, "passages_kept": 0, "elapsed_ms": 0 },
        "access": { "rate_limit": { "limit_rps": 9, "remaining": 8, "reset_at": "2026-01-05T10:00:01Z" } },
    })
}

fn events() -> Reply {
    let kinds = ["created", "started", "plan", "search", "document", "note", "output_delta", "completed"];
    let events = kinds.iter().zip(1..).map(|(kind, sequence)| {
        let event = json!({ "type": format!("research.{kind}"), "sequence": sequence, "research_id": ID,
            "at": "2026-01-05T10:00:00Z", "query": "tides\u{1b}[2J", "title": "Sea\u{9b}2J" });
        format!("id: {sequence}\ndata: {event}\n\n")
    });
    Reply::Full(200, "Content-Type: text/event-stream\r\n".to_owned(), events.collect::<String>().into_bytes())
}

/// Fake service whose run is in progress at the first poll and ends with `status`.
fn service(status: &'static str) -> MockServer {
    MockServer::start(move |request: &Request, earlier| match request.line.split_once(' ').unwrap() {
        ("POST", target) if target.ends_with("/cancel") => Reply::json(202, &run("cancelled")),
        ("POST", _) => Reply::json(202, &run("queued")),
        ("DELETE", _) => Reply::json(200, &json!({ "request_id": ID, "research_id": ID, "deleted": true })),
        ("GET", target) if target.ends_with("/events") => events(),
        ("GET", target) if target.contains("limit=") => {
            Reply::json(200, &json!({ "request_id": ID, "runs": [run("completed"), run("running")] }))
        }
        _ => Reply::json(200, &run(if earlier < 2 { "running" } else { status })),
    })
}

#[test]
fn flags_reach_the_service() {
    let (home, server) = (Home::new(), service("completed"));
    std::fs::write(home.path().join("schema.json"), "{\"type\": \"object\"}").unwrap();
    let arguments = [
        "research",
        "why",
        "tides?",
        "--depth",
        "deep",
        "--scope",
        "all",
        "--workspace-id",
        ID,
        "--instructions",
        "for children",
        "--max-chars",
        "900",
        "--schema",
        "schema.json",
        "--no-wait",
    ];
    let done = home.run_at(&server, &arguments);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), format!("started research {ID}\n").as_str()), "{done:#?}");
    assert!(done.stderr.contains(&format!("retrieval research --follow {ID}")), "{done:#?}");
    let expected = json!({
        "query": "why tides?", "depth": "deep", "instructions": "for children",
        "scope": { "indexes": ["web", "workspace"], "workspace_id": ID },
        "output": { "format": "structured", "schema": { "type": "object" }, "max_chars": 900 },
    });
    assert_eq!(server.requests().len(), 1);
    assert_eq!(server.requests()[0].json(), expected);
}

#[test]
fn report_has_numbered_sources() {
    let server = service("completed");
    let done = Home::new().run_at(&server, &["research", "why tides?"]);
    let expected = format!(
        "# Tides\n\nThe moon \u{1b}[2Jpulls. [1]\n\nSources\n[1]  Tides\u{fffd}2J\n     https://a.example/tides\n     \
         {ID}  web  published 2026-01-05\n     > The moon ␛[2Jpulls.\n"
    );
    assert_eq!((done.code, done.stdout), (Some(0), expected), "{}", done.stderr);
    assert!(done.stderr.contains(&format!("research {ID}")));
    let lines: Vec<String> = server.requests().into_iter().map(|request| request.line).collect();
    assert!(lines.len() == 3 && lines[1..].iter().all(|line| line.ends_with("?wait_seconds=20")), "{lines:?}");
    // The service did not wait, as for the 33rd client of an organization.
    let polls: Vec<Instant> = server.requests()[1..].iter().map(|request| request.at).collect();
    assert!(polls[1] - polls[0] >= Duration::from_millis(900), "polls without a pause");
}

#[test]
fn json_is_the_final_resource() {
    let home = Home::new();
    assert_eq!(home.run_at(&service("completed"), &["research", "why tides?", "--json"]).json(), [run("completed")]);
    let failed = home.run_at(&service("failed"), &["research", "--follow", ID, "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&failed.stdout).unwrap(), run("failed"));
    assert_eq!((failed.code, failed.error()["code"].as_str()), (Some(7), Some("partial")));
}

#[test]
fn runs_without_a_report_are_failures() {
    let home = Home::new();
    let failed = home.run_at(&service("failed"), &["research", "--follow", ID]);
    assert_eq!((failed.code, failed.stdout.as_str()), (Some(7), ""));
    assert!(failed.stderr.contains("failed: the index is down (provider_unavailable)"), "{failed:#?}");
    let cancelled = home.run_at(&service("cancelled"), &["research", "--follow", ID]);
    assert!(cancelled.code == Some(7) && cancelled.stderr.contains("cancelled"), "{cancelled:#?}");
    let gone = MockServer::start(|_, _| Reply::error(404, "research_not_found"));
    assert_eq!(home.run_at(&gone, &["research", "--follow", ID]).code, Some(4));
}

#[test]
fn run_is_followed_through_failures() {
    let server = MockServer::start(|request, earlier| match (request.line.starts_with("POST"), earlier) {
        (true, _) => Reply::json(202, &run("queued")),
        // More than the client itself repeats.
        (false, 1..=5) => Reply::error(502, "provider_unavailable"),
        (false, _) => Reply::json(200, &run("completed")),
    });
    let done = Home::new().run_at(&server, &["research", "why tides?"]);
    assert_eq!(done.code, Some(0), "{done:#?}");
    let posts = server.requests().iter().filter(|request| request.line.starts_with("POST")).count();
    assert_eq!((posts, server.requests().len()), (1, 7));
}

#[test]
fn run_that_can_no_longer_be_followed_is_named() {
    let home = Home::new();
    let page = || Reply::Full(200, String::new(), b"<html>".to_vec());
    let refusal = || Reply::error(401, "invalid_api_key");
    let answers: [(fn() -> Reply, i32); 2] = [(page, 6), (refusal, 3)];
    for (answer, exit) in answers {
        let server = MockServer::start(move |request, _| match request.line.starts_with("POST") {
            true => Reply::json(202, &run("queued")),
            false => answer(),
        });
        let done = home.run_at(&server, &["research", "why tides?"]);
        assert_eq!((done.code, done.stdout.as_str()), (Some(exit), ""), "{done:#?}");
        let advice = format!("; the run continues: `retrieval research --follow {ID}`");
        assert!(done.stderr.contains(&advice), "{done:#?}");
        for arguments in [&["research", "why tides?", "--json"][..], &["research", "--follow", ID, "--json"]] {
            let error = home.run_at(&server, arguments).error();
            assert_eq!(
                (&error["details"]["research_id"], &error["exit_status"]),
                (&json!(ID), &json!(exit)),
                "{error}"
            );
        }
    }
}

#[test]
fn run_of_a_lost_answer_is_looked_up() {
    let server = MockServer::start(|_, _| Reply::Close);
    let done = Home::new().run_at(&server, &["research", "why tides?"]);
    assert_eq!((done.code, server.requests().len()), (Some(5), 1), "{done:#?}");
    assert!(done.stderr.contains("; it may have been executed: see `retrieval research --list`"), "{done:#?}");
}

#[test]
fn runs_are_listed_cancelled_and_deleted() {
    let (home, server) = (Home::new(), service("completed"));
    let listed = home.run_at(&server, &["research", "--list"]);
    let row = |status: &str| format!("why tides?␛[2J  {ID}  {status:>9}  2026-01-05\n");
    assert!(listed.stdout.ends_with(&(row("completed") + &row("running"))), "{listed:#?}");
    let cancelled = home.run_at(&server, &["research", "--cancel", ID]);
    assert_eq!((cancelled.code, cancelled.stdout), (Some(0), format!("cancelled {ID}\n")));
    assert_eq!(home.run_at(&server, &["research", "--cancel", ID, "--json"]).json(), [run("cancelled")]);
    assert_eq!(home.run_at(&server, &["research", "--delete", ID]).stdout, format!("deleted {ID}\n"));
}

#[test]
fn contradicting_arguments_send_no_request() {
    let (home, server) = (Home::new(), service("completed"));
    std::fs::write(home.path().join("wrong.json"), "[1]").unwrap();
    for wrong in [
        &["research"][..],
        &["research", "tides?", "--follow", ID],
        &["research", "--follow", ID, "--cancel", ID],
        &["research", "--follow", ID, "--depth", "quick"],
        &["research", "--list", "--no-wait"],
        &["research", "tides?", "--depth", "endless"],
        &["research", "tides?", "--max-chars", "100"],
        &["research", "tides?", "--schema", "wrong.json"],
    ] {
        let done = home.run_at(&server, wrong);
        assert_eq!(done.code, Some(2), "{wrong:?} {done:#?}");
    }
    assert_eq!(home.run_at(&server, &["research", "tides?", "--schema", "none.json"]).code, Some(1));
    assert!(server.requests().is_empty());
}

#[test]
fn interruption_tells_how_to_follow_and_cancel() {
    let server = MockServer::start(|request, _| match request.line.starts_with("POST") {
        true => Reply::json(202, &run("queued")),
        false => Reply::Silence(Duration::from_secs(20)),
    });
    let home = Home::new();
    let mut command = home.command_at(&server, &["research", "why tides?"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while server.requests().len() < 2 {
        std::thread::sleep(Duration::from_millis(10));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let done = finish(child);
    assert_eq!(done.code, Some(130));
    for action in ["--follow", "--cancel"] {
        assert!(done.stderr.contains(&format!("retrieval research {action} {ID}")), "{done:#?}");
    }
}

#[test]
fn terminal_shows_progress_and_sanitized_text() {
    for has_stream in [true, false] {
        let server = MockServer::start(move |request, _| match request.line.as_str() {
            line if line.starts_with("POST") => Reply::json(202, &run("queued")),
            line if line.ends_with("/events") && has_stream => events(),
            // Polling takes over.
            line if line.ends_with("/events") => Reply::json(200, &json!({ "request_id": ID })),
            _ => Reply::json(200, &run("completed")),
        });
        let pty = Pty::of_width(80);
        let mut child = pty.start(Home::new().command_at(&server, &["research", "why tides?", "--color", "never"]));
        assert_eq!(child.wait().unwrap().code(), Some(0));
        let shown = pty.shown();
        assert!(shown.contains("The moon ␛[2Jpulls. [1]") && shown.contains("> The moon ␛[2Jpulls."), "{shown:?}");
        assert!(!shown.contains("\u{1b}[2J") && !shown.contains('\u{9b}'), "{shown:?}");
        let lines: Vec<String> = server.requests().into_iter().map(|request| request.line).collect();
        assert!(lines.len() == 3 && lines[1].ends_with("/events"), "{lines:?}");
    }
}
