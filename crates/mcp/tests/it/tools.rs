use api_types::{ErrorCode, SearchIndex, Section};
use mcp::{Failure, Profile};
use model::Scope;
use serde_json::{Value, json};

use crate::fake::{DOC, Fake, ORGANIZATION, call, failed, text, tools, validator};

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn tools_are_limited_to_the_callers_scopes() {
    let all = tools(Profile::Full, &Fake::default()).await;
    assert_eq!(names(&all), ["search", "read_document", "submit_feedback", "list_files"]);
    let fake = Fake { scopes: vec![Scope::DocumentRead], ..Fake::default() };
    assert_eq!(names(&tools(Profile::Full, &fake).await), ["read_document"]);
    assert_eq!(names(&tools(Profile::Connector, &fake).await), ["fetch"]);
    let fake = Fake { scopes: vec![], ..Fake::default() };
    assert!(tools(Profile::Full, &fake).await.is_empty());
}

#[tokio::test]
async fn definitions_are_complete_with_valid_schemas() {
    for profile in [Profile::Full, Profile::Connector] {
        for tool in tools(profile, &Fake::default()).await {
            let (input, output) = (&tool["inputSchema"], &tool["outputSchema"]);
            assert!(jsonschema::meta::is_valid(input) && jsonschema::meta::is_valid(output), "{tool}");
            assert_eq!((&input["type"], &output["type"]), (&json!("object"), &json!("object")), "{tool}");
            assert_eq!(input["additionalProperties"], false);
            // Model APIs refuse alternatives at the top level, and some do not resolve references.
            let text = input.to_string();
            assert!(input.get("anyOf").is_none() && !text.contains("$ref") && !text.contains("$schema"), "{text}");
            for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
                assert!(tool["annotations"][hint].is_boolean(), "{hint}");
            }
            assert!(tool["title"].is_string() && tool["description"].as_str().unwrap().len() > 40);
        }
    }
}

#[tokio::test]
async fn input_schema_accepts_requests_of_the_api() {
    let all = tools(Profile::Full, &Fake::default()).await;
    let search = validator(&all[0]["inputSchema"]);
    let full = json!({
        "query": "x", "max_results": 3, "filters": {"language": "en"}, "response": {"verbosity": "compact",
        "budget": {"max_chars_total": 500, "on_exceed": "error"}}, "scope": {"indexes": ["web", "workspace"]},
        "source_policy": {"include_domains": ["example.com"]}, "freshness_policy": {"freshness": "pw"},
    });
    assert!(search.is_valid(&full), "{:?}", search.iter_errors(&full).map(|e| e.to_string()).collect::<Vec<_>>());
    for wrong in
        [json!({}), json!({"query": 5}), json!({"query": "x", "max_results": 51}), json!({"query": "x", "y": 1})]
    {
        assert!(!search.is_valid(&wrong), "{wrong}");
    }
    let read = validator(&all[1]["inputSchema"]);
    assert!(read.is_valid(&json!({"doc_id": DOC.to_string(), "content": {"range": {"start_char": 5}}})));
}

#[tokio::test]
async fn search_budget_reserves_space_for_the_summary() {
    let fake = Fake::default();
    let result = call(&fake, "search", json!({"query": "tides", "max_results": 2})).await;
    let requested = fake.searches.borrow()[0].clone();
    assert_eq!((requested.query.as_str(), requested.max_results), ("tides", 2));
    assert_eq!(requested.response.budget.max_chars_total, Some(18_000));
    assert_eq!(*fake.begun.borrow(), ["search"]);
    assert_eq!(result["structuredContent"]["results"].as_array().map(Vec::len), Some(2));
    let text = text(&result);
    assert!(text.contains("2. Title 2 of two lines\n   https://example.com/2\n   doc_id 00000000"), "{text}");
    assert!(text.starts_with("2 results") && text.contains("read_document"), "{text}");

    call(&fake, "search", json!({"query": "x", "response": {"budget": {"max_chars_total": 700}}})).await;
    assert_eq!(fake.searches.borrow()[1].response.budget.max_chars_total, Some(700));
}

#[tokio::test]
async fn workspace_id_defaults_to_the_callers_organization() {
    let fake = Fake::default();
    let other = "00000000-0000-4000-8000-000000000001";
    call(&fake, "search", json!({"query": "x", "scope": {"indexes": ["workspace"]}})).await;
    call(&fake, "search", json!({"query": "x", "scope": {"indexes": ["workspace"], "workspace_id": other}})).await;
    call(&fake, "search", json!({"query": "x"})).await;
    let requested: Vec<_> = fake.searches.borrow().iter().map(|request| request.scope.workspace_id.clone()).collect();
    assert_eq!(requested, [Some(ORGANIZATION.to_string()), Some(other.to_owned()), None]);
    assert_eq!(fake.searches.borrow()[0].scope.indexes, Some(vec![SearchIndex::Workspace]));
}

#[tokio::test]
async fn read_returns_each_text_once() {
    let fake = Fake::default();
    let doc_id = DOC.to_string();
    call(&fake, "read_document", json!({"doc_id": doc_id})).await;
    call(&fake, "read_document", json!({"doc_id": doc_id, "query": "x", "content": {"selection": "query_relevant"}}))
        .await;
    call(&fake, "read_document", json!({"doc_id": doc_id, "include": ["capture_history"]})).await;
    let requested: Vec<_> = fake.reads.borrow().iter().map(|request| request.include.clone().unwrap()).collect();
    let expected: [&[Section]; 3] =
        [&[Section::Metadata, Section::Content], &[Section::Metadata, Section::Passages], &[Section::CaptureHistory]];
    assert_eq!(requested, expected);
}

#[tokio::test]
async fn feedback_and_files_have_short_summaries() {
    let fake = Fake::default();
    let result = call(&fake, "submit_feedback", json!({"event_type": "passage_used", "rank": 2})).await;
    assert_eq!(fake.feedback.borrow()[0].rank, Some(2));
    assert_eq!(text(&result), "Stored as 00000000-0000-0000-0000-000000000003.");
    let result = call(&fake, "list_files", json!({})).await;
    assert_eq!(text(&result), "Files 1 to 2 of 2:\nfile-0.txt (5 bytes)\nfile-1.txt (5 bytes)");
    assert_eq!(*fake.begun.borrow(), ["submitFeedback", "listFiles"]);
}

#[tokio::test]
async fn errors_name_the_invalid_argument() {
    let fake = Fake::default();
    for (tool, arguments, field) in [
        ("search", json!({"query": 5}), "query"),
        ("search", json!({}), "query"),
        ("search", json!({"query": ""}), "query"),
        ("search", json!({"query": "x", "max_results": 99}), "max_results"),
        (
            "search",
            json!({"query": "x", "response": {"budget": {"max_chars_total": "many"}}}),
            "response.budget.max_chars_total",
        ),
        ("search", json!({"query": "x", "colour": 1}), "colour"),
        ("search", json!(["x"]), "arguments"),
        ("search", json!("x"), "arguments"),
        ("read_document", json!({"doc_id": "nonsense"}), "doc_id"),
        (
            "read_document",
            json!({"doc_id": DOC.to_string(), "content": {"range": {"start_char": -1}}}),
            "content.range.start_char",
        ),
        ("submit_feedback", json!({"event_type": "loved"}), "event_type"),
        ("list_files", json!({"start": -1}), "start"),
    ] {
        let error = failed(&fake, tool, arguments.clone()).await;
        assert_eq!(
            (&error["code"], &error["details"]["field"]),
            (&json!("validation_error"), &json!(field)),
            "{arguments}"
        );
        assert!(error["message"].as_str().unwrap().starts_with(field), "{error}");
    }
    assert!(fake.searches.borrow().is_empty() && fake.reads.borrow().is_empty());
}

#[tokio::test]
async fn errors_of_the_api_carry_code_message_and_details() {
    let fake = Fake { scopes: vec![], ..Fake::default() };
    // The scope is checked before the arguments.
    let error = failed(&fake, "search", json!({"query": 5})).await;
    assert_eq!(error, json!({"code": "insufficient_scope", "message": "no", "details": {"scope": "search:read"}}));
    let limited = Failure::new(ErrorCode::RateLimited, "later").with("reset_at", "2026-01-01T00:00:01Z");
    let fake = Fake { failure: Some(limited), ..Fake::default() };
    for (tool, arguments) in [
        ("search", json!({"query": "x"})),
        ("read_document", json!({"doc_id": DOC.to_string()})),
        ("submit_feedback", json!({"event_type": "result_helpful"})),
        ("list_files", Value::Null),
    ] {
        let error = failed(&fake, tool, arguments).await;
        assert_eq!(error["code"], "rate_limited");
        assert_eq!(error["details"]["reset_at"], "2026-01-01T00:00:01Z");
    }
}
