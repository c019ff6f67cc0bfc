//! Research runs: requests, and streams of events that break.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{StreamExt, pin_mut};
use retrieval_client::types::{CitationsVerifyRequest, ResearchDepth, ResearchRequest, ResearchStatus, SearchIndex};
use retrieval_client::{Client, Error, ResearchListQuery};
use serde_json::{Value, json};

use crate::mock_server::{MockServer, Reply, Request};
use crate::samples::{self, KEY, REQUEST, SESSION, client};

const RUN: &str = "0190a6d4-0b7e-7d51-8a36-5e2f9c1d7b80";

fn run(status: &str) -> Value {
    json!({
        "request_id": REQUEST, "research_id": RUN, "session_id": SESSION, "query": "tides?", "status": status,
        "stop_reason": null, "created_at": "2026-01-05T10:00:00Z", "started_at": null, "completed_at": null,
        "expires_at": "2026-02-05T10:00:00Z", "plan": [], "output": null, "error": null, "warnings": [], "metadata": {},
        "progress": { "phase": "planning", "searches": 0, "documents_read": 0, "passages_kept": 0, "elapsed_ms": 0 },
        "access": samples::access(), "usage": null,
    })
}

/// Returns the stream of a run with eight events after `last`.
fn stream(last: i64) -> String {
    let kinds = ["created", "started", "plan", "search", "document", "note", "output_delta", "completed"];
    let events = kinds.iter().zip(1..).filter(|(_, sequence)| *sequence > last).map(|(kind, sequence)| {
        let event = json!({ "type": format!("research.{kind}"), "sequence": sequence, "research_id": RUN,
            "at": "2026-01-05T10:00:00Z", "text": "é\n" });
        format!("id: {sequence}\nevent: research.{kind}\ndata: {event}\n\n: keep-alive\n\n")
    });
    format!("retry: 1000\n\n{}", events.collect::<String>())
}

fn streamed(body: impl Into<Vec<u8>>) -> Reply {
    Reply::Full(200, "Content-Type: text/event-stream; charset=utf-8\r\nConnection: close\r\n".to_owned(), body.into())
}

fn last_of(request: &Request) -> i64 {
    request.header("last-event-id").map_or(0, |last| last.parse().unwrap())
}

async fn sequences(client: &Client) -> Result<Vec<i64>, Error> {
    let mut events = client.research_events(RUN, 0);
    let mut sequences = Vec::new();
    while let Some(event) = events.next_event().await? {
        sequences.push(event.sequence);
    }
    assert!(events.next_event().await.unwrap().is_none());
    Ok(sequences)
}

#[tokio::test]
async fn calls_have_their_method_path_and_body() {
    let server = MockServer::start(|request, _| match request.line.split(' ').next().unwrap() {
        "DELETE" => Reply::json(200, &json!({ "request_id": REQUEST, "research_id": RUN, "deleted": true })),
        "GET" if request.line.contains("status=") => {
            Reply::json(200, &json!({ "request_id": REQUEST, "runs": [], "next_cursor": "c" }))
        }
        _ => Reply::json(200, &run("queued")),
    });
    let client = client(&server);
    let request: ResearchRequest = serde_json::from_value(json!({ "query": "tides?", "depth": "quick" })).unwrap();
    assert_eq!(request.depth, ResearchDepth::Quick);
    let created = client.create_research(&request).await.unwrap();
    assert_eq!((created.run.research_id.to_string().as_str(), created.run.status), (RUN, ResearchStatus::Queued));
    client.get_research(RUN, 0).await.unwrap();
    client.get_research(RUN, 7).await.unwrap();
    let query = ResearchListQuery { status: Some("failed".to_owned()), limit: Some("5".to_owned()), cursor: None };
    assert_eq!(client.list_research(&query).await.unwrap().next_cursor.as_deref(), Some("c"));
    client.cancel_research(RUN).await.unwrap();
    assert!(client.delete_research(RUN).await.unwrap().deleted);
    let requests = server.requests();
    let lines: Vec<&str> = requests.iter().map(|request| request.line.as_str()).collect();
    let path = format!("/v1/research/{RUN}").replace('-', "%2D");
    let expected = [
        "POST /v1/research".to_owned(),
        format!("GET {path}"),
        format!("GET {path}?wait_seconds=7"),
        "GET /v1/research?status=failed&limit=5".to_owned(),
        format!("POST {path}/cancel"),
        format!("DELETE {path}"),
    ];
    assert_eq!(lines, expected);
    assert_eq!(requests[0].json(), json!({ "query": "tides?", "depth": "quick" }));
}

#[tokio::test]
async fn creation_fills_in_the_workspace_and_is_not_repeated() {
    let server = MockServer::start(|request, _| match request.line.as_str() {
        "GET /v1/me" => Reply::error(404, "not_found"),
        _ => Reply::Close,
    });
    let mut request: ResearchRequest = serde_json::from_value(json!({ "query": "tides?" })).unwrap();
    request.scope.indexes = Some(vec![SearchIndex::Workspace]);
    let error = client(&server).create_research(&request).await.unwrap_err();
    assert!(matches!(error, Error::Transport { .. }), "{error:?}");
    let lines: Vec<String> = server.requests().into_iter().map(|request| request.line).collect();
    assert_eq!(lines, ["GET /v1/me", "POST /v1/research"]);
}

#[tokio::test]
async fn wait_extends_the_timeout() {
    let server = MockServer::start(|request, _| {
        std::thread::sleep(Duration::from_millis(if request.line.contains("wait_seconds") { 400 } else { 0 }));
        Reply::json(200, &run("completed"))
    });
    let builder = Client::builder().base_url(server.address()).api_key(KEY).no_proxy();
    let client = builder.timeout(Duration::from_millis(200)).build().unwrap();
    assert_eq!(client.get_research(RUN, 5).await.unwrap().run.status, ResearchStatus::Completed);
}

#[tokio::test]
async fn stream_ends_with_the_last_event_of_the_run() {
    let server = MockServer::start(|request, _| {
        assert_eq!(request.header("accept"), Some("text/event-stream"));
        // Nothing after the last event is read.
        streamed(stream(last_of(request)) + "data: nonsense\n\n")
    });
    assert_eq!(sequences(&client(&server)).await.unwrap(), [1, 2, 3, 4, 5, 6, 7, 8]);
    let events = client(&server).research_events(RUN, 6).into_stream();
    pin_mut!(events);
    let mut kinds = Vec::new();
    while let Some(event) = events.next().await {
        kinds.push(event.unwrap().kind);
    }
    assert_eq!(kinds, ["research.output_delta", "research.completed"]);
    assert_eq!(server.requests()[1].header("last-event-id"), Some("6"));
}

#[tokio::test]
async fn cut_streams_resume_without_loss_or_repetition() {
    let whole = stream(0).len();
    let cuts = AtomicUsize::new(0);
    let server = MockServer::start(move |request, earlier| {
        let stream = stream(last_of(request));
        match earlier {
            // An end between events, one within an event, and no response.
            0 => streamed(&stream.as_bytes()[..whole / 4]),
            2 => Reply::Close,
            3 => Reply::error(503, "overloaded"),
            1 if cuts.fetch_add(1, Ordering::Relaxed) == 0 => streamed(&stream.as_bytes()[..whole / 3]),
            _ => streamed(stream),
        }
    });
    assert_eq!(sequences(&client(&server)).await.unwrap(), [1, 2, 3, 4, 5, 6, 7, 8]);
    let lasts: Vec<i64> = server.requests().iter().map(last_of).collect();
    assert!(lasts.len() == 5 && lasts.is_sorted() && lasts[1] > 0 && lasts[2] > lasts[1], "{lasts:?}");
}

#[tokio::test]
async fn repeated_events_are_skipped_and_gaps_are_errors() {
    let server = MockServer::start(|_, _| streamed(stream(0) + &stream(0)));
    let mut events = client(&server).research_events(RUN, 4);
    assert_eq!(events.next_event().await.unwrap().unwrap().sequence, 5);
    let server = MockServer::start(|_, _| streamed(stream(2)));
    let error = sequences(&client(&server)).await.unwrap_err();
    assert!(
        matches!(error, Error::Malformed { .. }) && error.to_string().contains("event 3 follows event 0"),
        "{error}"
    );
}

#[tokio::test]
async fn what_is_no_stream_is_an_error() {
    let gone = MockServer::start(|_, _| Reply::error(404, "research_not_found"));
    let error = sequences(&client(&gone)).await.unwrap_err();
    assert_eq!((error.api().unwrap().code.as_str(), gone.requests().len()), ("research_not_found", 1));
    for reply in [("application/json", "{}"), ("text/event-stream", "data: nonsense\n\n")] {
        let (media_type, body) = reply;
        let head = format!("Content-Type: {media_type}\r\n");
        let server = MockServer::start(move |_, _| Reply::Full(200, head.clone(), body.as_bytes().to_vec()));
        let error = sequences(&client(&server)).await.unwrap_err();
        assert!(matches!(error, Error::Malformed { .. }), "{error:?}");
        assert_eq!(server.requests().len(), 1);
    }
    let server = MockServer::start(|_, _| streamed(vec![b'x'; 17 << 20]));
    assert!(matches!(sequences(&client(&server)).await.unwrap_err(), Error::TooLarge { .. }));
}

#[tokio::test]
async fn quotes_are_verified() {
    let server = MockServer::start(|_, _| Reply::error(404, "not_found"));
    let request: CitationsVerifyRequest =
        serde_json::from_value(json!({ "citations": [{ "doc_id": samples::DOCUMENT, "quote": "The moon pulls." }] }))
            .unwrap();
    client(&server).verify_citations(&request).await.unwrap_err();
    let sent = &server.requests()[0];
    assert_eq!(sent.line, "POST /v1/citations/verify");
    assert_eq!(sent.json()["citations"][0]["quote"], "The moon pulls.");
}
