use api_types::ErrorCode;
use mcp::{Failure, Profile, Toolset, code};
use model::Scope;
use serde_json::{Value, json};

use crate::fake::{DOC, Fake, call as call_tool, failed, send, send_to, text, tools};

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn tools_are_limited_to_the_callers_scopes() {
    let all = tools(Profile::Full, &Fake::default()).await;
    let expected =
        ["search", "read_document", "research_start", "research_get", "submit_feedback", "list_files", "upload_file"];
    assert_eq!(names(&all), expected);
    let fake = Fake { scopes: vec![Scope::ResearchRead], ..Fake::default() };
    assert_eq!(names(&tools(Profile::Full, &fake).await), ["research_get"]);
    let fake = Fake { scopes: vec![Scope::DocumentRead], ..Fake::default() };
    assert_eq!(names(&tools(Profile::Full, &fake).await), ["read_document"]);
    assert_eq!(names(&tools(Profile::Connector, &fake).await), ["fetch"]);
    let fake = Fake { scopes: vec![], ..Fake::default() };
    assert!(tools(Profile::Full, &fake).await.is_empty());
}

#[tokio::test]
async fn definitions_are_complete_with_valid_schemas() {
    for profile in [Profile::Full, Profile::Search, Profile::Connector] {
        for tool in tools(profile, &Fake::default()).await {
            let (input, output) = (&tool["inputSchema"], &tool["outputSchema"]);
            assert!(jsonschema::meta::is_valid(input) && jsonschema::meta::is_valid(output), "{tool}");
            assert_eq!((&input["type"], &output["type"]), (&json!("object"), &json!("object")), "{tool}");
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
async fn definitions_are_small() {
    for profile in [Profile::Full, Profile::Search, Profile::Connector] {
        let list = send(profile, &Fake::default(), "tools/list", json!({})).await;
        let size = list.to_string().len();
        assert!(size < 12_000, "{profile:?} {size}");
    }
}

#[tokio::test]
async fn tools_can_be_chosen() {
    let listed = async |profile, chosen: &str| {
        let toolset = Toolset::only(profile, chosen)?;
        let list = send_to(toolset, &Fake::default(), "tools/list", json!({})).await;
        Ok::<_, String>(names(list["result"]["tools"].as_array().unwrap()).join(" "))
    };
    assert_eq!(names(&tools(Profile::Search, &Fake::default()).await), ["search"]);
    assert_eq!(listed(Profile::Full, "list_files, search,,search").await.unwrap(), "search list_files");
    assert_eq!(listed(Profile::Connector, "fetch").await.unwrap(), "fetch");
    let error = listed(Profile::Full, "search,fetch").await.unwrap_err();
    let known = "search, read_document, research_start, research_get, submit_feedback, list_files, upload_file";
    assert_eq!(error, format!("unknown tool `fetch`: tools must be a comma-separated list of {known}"));
    assert!(listed(Profile::Full, " , ").await.is_err());
}

#[tokio::test]
async fn answers_suggest_only_tools_that_are_offered() {
    let toolset = Toolset::new(Profile::Search);
    let call = json!({"name": "search", "arguments": {"query": "x"}});
    let found = send_to(toolset.clone(), &Fake::default(), "tools/call", call).await;
    assert!(!found.to_string().contains("read_document"));
    let call = json!({"name": "read_document", "arguments": {"doc_id": DOC.to_string()}});
    let refused = send_to(toolset, &Fake::default(), "tools/call", call).await;
    assert_eq!(refused["error"]["code"], code::INVALID_PARAMS);
    let fake = Fake { scopes: vec![Scope::SearchRead], ..Fake::default() };
    assert!(!text(&call_tool(&fake, "search", json!({"query": "x"})).await).contains("read_document"));
}

#[tokio::test]
async fn errors_of_the_api_carry_code_message_and_details() {
    let fake = Fake { scopes: vec![], ..Fake::default() };
    // The scope is checked before the arguments.
    let error = failed(&fake, "search", json!({"query": {}})).await;
    assert_eq!(error, json!({"code": "insufficient_scope", "message": "no", "details": {"scope": "search:read"}}));
    let limited = Failure::new(ErrorCode::RateLimited, "later").with("reset_at", "2026-01-01T00:00:01Z");
    let fake = Fake { failure: Some(limited), ..Fake::default() };
    for (tool, arguments) in [
        ("search", json!({"query": "x"})),
        ("read_document", json!({"doc_id": DOC.to_string()})),
        ("research_start", json!({"query": "x"})),
        ("research_get", json!({"research_id": DOC.to_string()})),
        ("submit_feedback", json!({"event_type": "result_helpful"})),
        ("list_files", Value::Null),
        ("upload_file", json!({"name": "a.md", "text": "x"})),
    ] {
        let error = failed(&fake, tool, arguments).await;
        assert_eq!(error["code"], "rate_limited");
        assert_eq!(error["details"]["reset_at"], "2026-01-01T00:00:01Z");
    }
}
