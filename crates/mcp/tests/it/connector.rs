use api_types::{ErrorCode, SearchIndex, Verbosity};
use mcp::{Failure, Profile};
use serde_json::{Value, json};

use crate::fake::{DOC, Fake, ORGANIZATION, call_in, document, text, tools};
use crate::reading::unavailable;

/// Calls a tool of the connector profile and asserts that its text is the complete structured content.
async fn call(fake: &Fake, tool: &str, arguments: Value) -> Value {
    let result = call_in(Profile::Connector, fake, tool, arguments).await;
    assert_eq!(result["isError"], false, "{result}");
    assert_eq!(serde_json::from_str::<Value>(text(&result)).unwrap(), result["structuredContent"]);
    result["structuredContent"].clone()
}

#[tokio::test]
async fn connector_has_search_and_fetch_with_one_argument_each() {
    let tools = tools(Profile::Connector, &Fake::default()).await;
    let shapes: Vec<_> =
        tools.iter().map(|tool| (tool["name"].clone(), tool["inputSchema"]["required"].clone())).collect();
    assert_eq!(shapes, [(json!("search"), json!(["query"])), (json!("fetch"), json!(["id"]))]);
}

#[tokio::test]
async fn search_covers_web_and_workspace() {
    let fake = Fake::default();
    let found = call(&fake, "search", json!({"query": "tides"})).await;
    let first = json!({"id": DOC.to_string(), "title": "https://example.com/1", "url": "https://example.com/1"});
    assert_eq!(found["results"][0], first, "without a title the URL replaces it");
    assert_eq!(found["results"].as_array().map(Vec::len), Some(2));
    let request = fake.searches.borrow()[0].clone();
    assert_eq!(request.response.verbosity, Verbosity::IdsOnly);
    assert_eq!(request.scope.indexes, Some(vec![SearchIndex::Web, SearchIndex::Workspace]));
    assert_eq!(request.scope.workspace_id, Some(ORGANIZATION.to_string()));
}

#[tokio::test]
async fn without_an_index_of_files_the_web_is_searched() {
    let fake = Fake { index: false, ..Fake::default() };
    let found = call(&fake, "search", json!({"query": "tides"})).await;
    assert_eq!(found["results"].as_array().map(Vec::len), Some(2));
    let scope = fake.searches.borrow()[0].scope.clone();
    assert_eq!((scope.indexes, scope.workspace_id), (None, None));

    // Without providers the web is not searched either; a provider that fails is not asked again.
    for (code, searches) in [(ErrorCode::RetrievalNotConfigured, 2), (ErrorCode::ProviderUnavailable, 1)] {
        let fake = Fake { failure: Some(Failure::new(code, "no results")), ..Fake::default() };
        let refused = call_in(Profile::Connector, &fake, "search", json!({"query": "tides"})).await;
        assert!(refused["isError"] == true && text(&refused).contains("no results"), "{refused}");
        assert_eq!(fake.searches.borrow().len(), searches, "{code:?}");
    }
}

#[tokio::test]
async fn fetch_returns_the_text_of_an_id() {
    let fake = Fake::default();
    let fetched = call(&fake, "fetch", json!({"id": DOC.to_string()})).await;
    assert_eq!(fetched["text"], "# Tides\n\nThe moon pulls.");
    assert_eq!((&fetched["title"], &fetched["url"]), (&json!("Tides"), &json!("https://example.com/tides")));
    assert_eq!(fetched["metadata"]["published_at"], "2026-01-01T00:00:00Z");
    assert_eq!(fake.reads.borrow()[0].doc_id, Some(DOC.to_string()));

    *fake.document.borrow_mut() = document("");
    fake.document.borrow_mut().content = None;
    assert_eq!(call(&fake, "fetch", json!({"id": DOC.to_string()})).await["text"], "");
    *fake.document.borrow_mut() = unavailable("robots", None);
    let refused = call_in(Profile::Connector, &fake, "fetch", json!({"id": DOC.to_string()})).await;
    assert!(refused["isError"] == true && text(&refused).contains("robots"), "{refused}");
}

#[tokio::test]
async fn errors_name_the_invalid_argument() {
    for (tool, arguments, field) in [
        ("search", json!({}), "query"),
        ("search", json!({"query": ""}), "query"),
        ("fetch", json!({"id": 5}), "id"),
        ("fetch", json!({"id": {}}), "id"),
        ("fetch", json!({"id": "https://example.com"}), "id"),
    ] {
        let result = call_in(Profile::Connector, &Fake::default(), tool, arguments).await;
        let error = serde_json::from_str::<Value>(text(&result)).unwrap()["error"].clone();
        assert_eq!((&error["code"], &error["details"]["field"]), (&json!("validation_error"), &json!(field)));
    }
}
