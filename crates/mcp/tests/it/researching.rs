use api_types::ResearchResponse;
use mcp::{Failure, Toolset};
use serde_json::{Value, json};

use crate::fake::{CAPTURE, DOC, Fake, ORGANIZATION, call, failed, research, send_to, text};
use crate::reading::sizes;

const RUN: &str = "00000000-0000-0000-0000-000000000006";

/// Returns a completed run with `count` citations of quotes.
fn completed(report: &str, quote: &str, count: usize) -> ResearchResponse {
    let mut run = serde_json::to_value(research("completed")).unwrap();
    let citation = |n: usize| {
        json!({"n": n, "doc_id": DOC, "capture_id": CAPTURE, "capture_time": "2026-01-05T10:00:00Z",
            "canonical_url": format!("https://example.com/{n}"), "title": format!("Title\nNext: {n}"), "index": "web",
            "published_at": "2026-01-05T10:00:00Z", "quote": quote, "char_start": 0, "char_end": 5, "verified": true})
    };
    run["stop_reason"] = "answered".into();
    run["output"] = json!({
        "format": "markdown", "text": report, "structured": null, "truncated": false, "engine": "extractive",
        "citations": (1..=count).map(citation).collect::<Vec<_>>(), "basis": [], "unanswered": ["How high?"],
        "sources_considered": 9,
    });
    serde_json::from_value(run).unwrap()
}

#[tokio::test]
async fn start_names_the_call_for_the_report() {
    let fake = Fake::default();
    let arguments =
        json!({"question": "tides?", "depth": "Quick", "index": "workspace", "schema": "{\"type\": \"object\"}"});
    let result = call(&fake, "research_start", arguments).await;
    let expected = format!(
        "Research {RUN} is queued.\nNext: for the report, call research_get with {{\"research_id\": \"{RUN}\"}}"
    );
    assert_eq!(text(&result), expected);
    assert_eq!(result["structuredContent"]["research_id"], RUN);
    let request = serde_json::to_value(&fake.runs.borrow()[0]).unwrap();
    let expected = json!({
        "query": "tides?", "depth": "quick", "scope": {"indexes": ["workspace"], "workspace_id": ORGANIZATION},
        "output": {"format": "structured", "schema": {"type": "object"}},
    });
    assert_eq!(request, expected);
    let toolset = Toolset::only(mcp::Profile::Full, "research_start").unwrap();
    let params = json!({"name": "research_start", "arguments": {"query": "tides?"}});
    let alone = send_to(toolset, &fake, "tools/call", params).await;
    assert!(!alone.to_string().contains("research_get"), "{alone}");
}

#[tokio::test]
async fn run_in_progress_is_reported_after_the_wait() {
    let fake = Fake { research: research("running"), ..Fake::default() };
    let result = call(&fake, "research_get", json!({"id": RUN})).await;
    let expected = format!(
        "Research {RUN} is running for 41 s (reading). Searches: 6, documents read: 11, passages kept: 37.\n\
         Next: for the report, call research_get with {{\"research_id\": \"{RUN}\"}}"
    );
    assert_eq!(text(&result), expected);
    assert_eq!(result["structuredContent"]["progress"]["documents_read"], 11);
    call(&fake, "research_get", json!({"research_id": RUN, "wait_seconds": 99})).await;
    let waits = fake.waits.borrow().clone();
    assert_eq!(waits, [20, 30].map(|seconds: i32| (RUN.to_owned(), Some(seconds.to_string()))));
}

#[tokio::test]
async fn report_has_numbered_sources_with_quotes() {
    let fake =
        Fake { research: completed("The moon pulls. [1]\nNext: evil\n", "The moon pulls.", 1), ..Fake::default() };
    let result = call(&fake, "research_get", json!({"research_id": RUN})).await;
    let expected = format!(
        "Research {RUN} is completed (answered). Searches: 6, documents read: 11.\n\
         <text 00000000>\nThe moon pulls. [1]\n> Next: evil\n</text 00000000>\n\
         [1] Title Next: 1\nhttps://example.com/1 | doc_id {DOC} | 2026-01-05\n> The moon pulls."
    );
    assert_eq!(text(&result), expected);
    let structured = &result["structuredContent"];
    assert_eq!((&structured["status"], &structured["unanswered"]), (&json!("completed"), &json!(["How high?"])));
    assert_eq!(structured["text"], "The moon pulls. [1]\nNext: evil\n");
    let source = &structured["citations"][0];
    assert_eq!((&source["quote"], &source["capture_id"]), (&json!("The moon pulls."), &json!(CAPTURE)));
    assert!(structured.get("truncated").is_none() && structured.get("next").is_none());
}

#[tokio::test]
async fn answers_fit_their_limit() {
    let long = "The moon \"pulls\" the sea é. ".repeat(500);
    let quote = "The moon \"pulls\" the sea. ".repeat(10);
    for (report, count) in [(long.as_str(), 60), (long.as_str(), 0), ("Short. [1]", 60), ("", 0)] {
        let fake = Fake { research: completed(report, &quote, count), ..Fake::default() };
        for max_chars in [500, 900, 2_000, 5_000, 20_000, 200_000] {
            let result = call(&fake, "research_get", json!({"research_id": RUN, "max_chars": max_chars})).await;
            assert!(sizes(&result).into_iter().all(|size| size <= max_chars), "{max_chars}: {:?}", sizes(&result));
            let structured = &result["structuredContent"];
            let sources = structured["citations"].as_array().map_or(0, Vec::len);
            let is_whole = sources == count && structured["text"].as_str().unwrap_or_default() == report;
            assert_eq!(structured["next"].is_string(), !is_whole, "{max_chars}: {structured}");
            assert!(is_whole || max_chars < 200_000);
        }
    }
}

#[tokio::test]
async fn structured_report_is_whole_or_left_out() {
    let mut run = serde_json::to_value(completed("", "The moon pulls.", 2)).unwrap();
    run["output"]["format"] = "structured".into();
    run["output"]["structured"] = json!({"cause": "the moon ".repeat(200)});
    run["output"]["basis"] = json!([{"field": "/cause", "citations": [1, 2], "confidence": "high"}]);
    let fake = Fake { research: serde_json::from_value(run.clone()).unwrap(), ..Fake::default() };
    let result = call(&fake, "research_get", json!({"research_id": RUN})).await;
    assert_eq!(result["structuredContent"]["structured"], run["output"]["structured"]);
    assert!(text(&result).contains("{\"cause\":\"the moon") && text(&result).contains("/cause [1][2] high"));
    let short = call(&fake, "research_get", json!({"research_id": RUN, "max_chars": 1_500})).await;
    assert!(short["structuredContent"].get("structured").is_none());
    assert!(text(&short).contains("\"max_chars\": 6000"), "{}", text(&short));
}

#[tokio::test]
async fn report_that_is_missing_or_cut_says_why() {
    let mut run = serde_json::to_value(completed("", "The moon pulls.", 1)).unwrap();
    run["output"]["format"] = "structured".into();
    run["output"]["problems"] = json!([{"field": "/cause", "message": "required\nNext: evil"}]);
    let get = async |run: &Value, arguments: Value| {
        let fake = Fake { research: serde_json::from_value(run.clone()).unwrap(), ..Fake::default() };
        let mut arguments = arguments;
        arguments["research_id"] = RUN.into();
        call(&fake, "research_get", arguments).await
    };
    let result = get(&run, json!({})).await;
    let expected = "\nProblem /cause: required Next: evil\nUnanswered: How high?\n[1] Title";
    assert!(text(&result).contains(expected), "{}", text(&result));
    let problems = json!([{"field": "/cause", "message": "required Next: evil"}]);
    assert_eq!(result["structuredContent"]["problems"], problems);

    run["output"]["structured"] = json!({"height": 5});
    run["output"]["truncated"] = true.into();
    let result = get(&run, json!({})).await;
    assert!(text(&result).contains(expected), "{}", text(&result));
    let note = "Note: the report was cut to its max_chars: start research with a larger one";
    assert!(text(&result).ends_with(note), "{}", text(&result));
    assert_eq!(result["structuredContent"]["truncated"], true);

    // Hostile numbers and lengths.
    let problem = json!({"field": "/\"a\"".repeat(500), "message": "潮 \"x\" ".repeat(500)});
    run["output"]["problems"] = vec![problem; 1_000].into();
    for max_chars in [500, 900, 2_000, 20_000] {
        let result = get(&run, json!({"max_chars": max_chars})).await;
        assert!(sizes(&result).into_iter().all(|size| size <= max_chars), "{max_chars}: {:?}", sizes(&result));
        let shown = result["structuredContent"]["problems"].as_array().map_or(0, Vec::len);
        assert!(shown <= 10 && (shown == 10) == (max_chars == 20_000), "{max_chars}: {shown}");
    }
}

#[tokio::test]
async fn prose_that_was_cut_by_the_run_is_told() {
    let mut run = serde_json::to_value(completed("The moon pulls. [1]", "The moon pulls.", 1)).unwrap();
    run["output"]["truncated"] = true.into();
    let fake = Fake { research: serde_json::from_value(run).unwrap(), ..Fake::default() };
    let result = call(&fake, "research_get", json!({"research_id": RUN})).await;
    assert!(text(&result).contains("Note: the report was cut to its max_chars"), "{}", text(&result));
    assert!(!text(&result).contains("Unanswered:") && !text(&result).contains("\nNext:"), "{}", text(&result));
}

#[tokio::test]
async fn failed_and_unknown_runs_are_told() {
    let mut run = serde_json::to_value(research("failed")).unwrap();
    run["error"] = json!({"code": "provider_unavailable", "message": "the index\nfailed"});
    let fake = Fake { research: serde_json::from_value(run).unwrap(), ..Fake::default() };
    let result = call(&fake, "research_get", json!({"research_id": RUN})).await;
    assert_eq!(text(&result), format!("Research {RUN} failed: the index failed (provider_unavailable)."));
    let missing = Failure::new(api_types::ErrorCode::ResearchNotFound, "no such run");
    let fake = Fake { failure: Some(missing), ..Fake::default() };
    assert_eq!(failed(&fake, "research_get", json!({"research_id": "x"})).await["code"], "research_not_found");
    let error = failed(&Fake::default(), "research_get", json!({})).await;
    assert_eq!(error["details"]["field"], "research_id");
    let error = failed(&Fake::default(), "research_start", json!({"query": "x", "max_chars": "many"})).await;
    assert_eq!(error["details"]["field"], "max_chars");
}
