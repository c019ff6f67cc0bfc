//! `retrieval mcp`: message transport. The crate `mcp` tests the tools.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mock_server::{MockServer, Reply};
use crate::program::{Done, Home, KEY, with_input};

const ORGANIZATION: &str = "0190a6d2-6a5c-4cc0-8c5e-0f4c5a1b0001";

fn found() -> Reply {
    Reply::json(
        200,
        &json!({
            "request_id": ORGANIZATION, "search_id": ORGANIZATION, "session_id": ORGANIZATION, "warnings": null,
            "results": [{"rank": 1, "doc_id": ORGANIZATION, "canonical_url": "https://a.example/tides", "title": "Tides"}],
        }),
    )
}

fn request(id: u32, method: &str, params: Value) -> String {
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

fn calling(id: u32, tool: &str, arguments: Value) -> String {
    request(id, "tools/call", json!({"name": tool, "arguments": arguments}))
}

/// Returns the messages of the output in the order of their ids.
#[track_caller]
fn messages(done: &Done) -> Vec<Value> {
    let mut messages = done.json();
    messages.sort_by_key(|message| message["id"].as_u64());
    messages
}

/// Returns the error of a failed tool call.
fn error(message: &Value) -> Value {
    assert_eq!(message["result"]["isError"], true, "{message}");
    let text = message["result"]["content"][0]["text"].as_str().unwrap();
    serde_json::from_str::<Value>(text).unwrap()["error"].clone()
}

/// Starts a command and keeps its input open.
fn open(mut command: Command) -> (Child, ChildStdin, Lines<BufReader<ChildStdout>>) {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    (child, input, BufReader::new(output).lines())
}

#[test]
fn session_ends_with_standard_input() {
    let server = MockServer::start(|_, _| found());
    let input = [
        request(1, "initialize", json!({"protocolVersion": "2025-06-18", "capabilities": {}})),
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n\n".to_owned(),
        request(2, "tools/list", json!({})),
        calling(3, "search", json!({"query": "tides"})),
        "not json\n".to_owned(),
        calling(4, "search", json!({"query": {}})),
    ];
    let done = with_input(Home::new().command_at(&server, &["mcp"]), &input.concat());
    assert_eq!(done.stderr, "");
    let messages = messages(&done);
    assert_eq!(messages.len(), 5);
    assert_eq!((&messages[0]["error"]["code"], messages[0].get("id")), (&json!(-32700), None));
    assert_eq!(messages[1]["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(messages[2]["result"]["tools"].as_array().map(Vec::len), Some(7));
    assert_eq!(messages[3]["result"]["structuredContent"]["results"][0]["title"], "Tides");
    assert_eq!(error(&messages[4])["details"]["field"], "query");
    assert_eq!(server.requests().len(), 1, "invalid arguments are not sent");
}

#[test]
fn connector_searches_the_configured_workspace() {
    let server = MockServer::start(|_, _| found());
    let home = Home::new();
    let arguments = ["mcp", "--profile", "connector", "--workspace-id", ORGANIZATION];
    let input = calling(1, "search", json!({"query": "tides"})) + &request(2, "tools/list", json!({}));
    let messages = messages(&with_input(home.command_at(&server, &arguments), &input));
    let expected = json!([{"id": ORGANIZATION, "title": "Tides", "url": "https://a.example/tides"}]);
    assert_eq!(messages[0]["result"]["structuredContent"]["results"], expected);
    assert_eq!(messages[1]["result"]["tools"].as_array().map(Vec::len), Some(2));
    let scope = server.requests()[0].json()["scope"].clone();
    assert_eq!(scope, json!({"indexes": ["web", "workspace"], "workspace_id": ORGANIZATION}));
    assert_eq!(home.run_at(&server, &["mcp", "--workspace-id", "mine"]).code, Some(2));
}

#[test]
fn tools_can_be_chosen() {
    let home = Home::new();
    let server = MockServer::start(|_, _| found());
    let listed = |arguments: &[&str]| {
        let done = with_input(home.command_at(&server, arguments), &request(1, "tools/list", json!({})));
        let tools = messages(&done)[0]["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed(&["mcp", "--profile", "search"]), ["search"]);
    assert_eq!(listed(&["mcp", "--tools", "read_document,search"]), ["search", "read_document"]);
    let refused = home.run_at(&server, &["mcp", "--tools", "fetch"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("unknown tool `fetch`"), "{}", refused.stderr);
}

#[test]
fn text_is_uploaded_to_storage_and_indexed() {
    let server = MockServer::start(|request, _| match request.line.split_once(' ').unwrap() {
        ("POST", "/v1/files/presign") => {
            let url = format!("http://{}/store/notes.md", request.header("host").unwrap());
            let signed = json!({"request_id": ORGANIZATION, "name": "notes.md", "url": url,
                "expires_in_seconds": 900, "max_object_bytes": 1000});
            Reply::json(200, &signed)
        }
        ("POST", _) => {
            Reply::json(202, &json!({"request_id": ORGANIZATION, "sync_id": ORGANIZATION, "state": "queued"}))
        }
        _ => Reply::Full(200, String::new(), Vec::new()),
    });
    let input = calling(1, "upload_file", json!({"name": "notes.md", "text": "# Notes"}));
    let messages = messages(&with_input(Home::new().command_at(&server, &["mcp"]), &input));
    let structured = &messages[0]["result"]["structuredContent"];
    assert_eq!((&structured["sync_id"], &structured["state"]), (&json!(ORGANIZATION), &json!("queued")));
    let requests = server.requests();
    let lines: Vec<_> = requests.iter().map(|request| request.line.as_str()).collect();
    assert_eq!(lines, ["POST /v1/files/presign", "PUT /store/notes.md", "POST /v1/files/index"]);
    assert_eq!(requests[1].body, b"# Notes");
    assert_eq!(requests[1].header("authorization"), None, "the key is not sent to storage");
}

#[test]
fn service_errors_are_tool_results_without_the_key() {
    let home = Home::new();
    let call = calling(1, "search", json!({"query": "x"}));
    let server = MockServer::start(|_, _| Reply::error(403, "insufficient_scope"));
    let done = with_input(home.command_at(&server, &["mcp"]), &call);
    let expected =
        json!({"code": "insufficient_scope", "message": "it is insufficient_scope", "details": {"field": "query"}});
    assert_eq!(error(&messages(&done)[0]), expected);

    let mut nowhere = home.command(&["mcp", "--base-url", "http://127.0.0.1:1"]);
    nowhere.env("RETRIEVAL_API_KEY", KEY);
    let (mut child, mut input, mut output) = open(nowhere);
    input.write_all(calling(1, "list_files", json!({})).as_bytes()).unwrap();
    let message = output.next().unwrap().unwrap();
    assert_eq!(error(&serde_json::from_str(&message).unwrap())["code"], "no_connection");
    drop(input);
    assert!(child.wait().unwrap().success());
    assert!(!format!("{message}{}{}", done.stdout, done.stderr).contains(KEY));
}

#[test]
fn missing_key_prevents_start() {
    let done = with_input(Home::new().command(&["mcp"]), &request(1, "ping", json!({})));
    assert_eq!((done.code, done.stdout.as_str()), (Some(3), ""));
    assert!(done.stderr.contains("no API key"), "{}", done.stderr);
}

#[test]
fn slow_request_does_not_block_others_and_can_be_cancelled() {
    let server = MockServer::start(|request, _| match request.line.contains("/v1/search") {
        true => Reply::Silence(Duration::from_secs(30)),
        false => Reply::error(403, "insufficient_scope"),
    });
    let home = Home::new();
    let (mut child, mut input, mut output) = open(home.command_at(&server, &["mcp"]));
    input.write_all(calling(1, "search", json!({"query": "x"})).as_bytes()).unwrap();
    input.write_all(calling(2, "list_files", json!({})).as_bytes()).unwrap();
    let first: Value = serde_json::from_str(&output.next().unwrap().unwrap()).unwrap();
    assert_eq!(first["id"], 2);
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    input.write_all(format!("{cancel}\n").as_bytes()).unwrap();
    let closed = Instant::now();
    drop(input);
    assert!(output.next().is_none(), "a cancelled request gets no response");
    assert!(child.wait().unwrap().success() && closed.elapsed() < Duration::from_secs(2));
}
