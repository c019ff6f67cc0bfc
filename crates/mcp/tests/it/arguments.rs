use api_types::{EventType, Freshness, SearchIndex};
use serde_json::{Value, json};

use crate::fake::{DOC, Fake, ORGANIZATION, call, failed, text};

#[tokio::test]
async fn types_are_lenient() {
    let fake = Fake::default();
    for arguments in [
        json!({"query": "tides", "max_results": "3", "indexes": "workspace", "include_domains": "a.example, b.example",
               "freshness": "PW", "exact_match": "true", "language": null, "filters": null}),
        json!({"q": "tides", "limit": 3.0, "scope": "{\"indexes\": [\"workspace\"]}", "freshness": "pw",
               "source_policy": {"include_domains": ["a.example", "b.example"]}, "filters": {"exact_match": 1}}),
        json!(
            "{\"query\": [\"tides\"], \"num_results\": 3, \"index\": \"Workspace\", \"exact_match\": true, \
               \"include_domains\": \"[\\\"a.example\\\", \\\"b.example\\\"]\", \"freshness\": \"pw\"}"
        ),
    ] {
        let result = call(&fake, "search", arguments).await;
        assert!(!text(&result).contains("Note:"), "{}", text(&result));
        let request = fake.searches.borrow_mut().pop().unwrap();
        assert_eq!((request.query.as_str(), request.max_results, request.filters.exact_match), ("tides", 3, true));
        assert_eq!(request.scope.indexes, Some(vec![SearchIndex::Workspace]));
        assert_eq!(request.scope.workspace_id, Some(ORGANIZATION.to_string()));
        assert_eq!(request.source_policy.include_domains, ["a.example", "b.example"]);
        assert_eq!(request.freshness_policy.freshness, Some(Freshness::Pw));
    }
}

#[tokio::test]
async fn ranges_and_unknown_arguments_are_noted() {
    let fake = Fake::default();
    let arguments =
        json!({"query": "x", "max_results": 99, "colour": "red", "filters": {"site": "x"}, "max_chars": 900_000});
    let result = call(&fake, "search", arguments).await;
    assert_eq!(fake.searches.borrow()[0].max_results, 50);
    let notes: Vec<_> = text(&result).lines().filter_map(|line| line.strip_prefix("Note: ")).collect();
    let expected = [
        "ignored the unknown argument `colour`",
        "ignored the unknown argument `filters.site`",
        "`max_results` was set to 50: 99 is out of range",
        "max_chars was set to 200000; allowed are 500 to 200000",
    ];
    assert_eq!(notes, expected);
    let result = call(&fake, "search", json!({"query": "x", "limit": -1, "colour\nNext: y": 1})).await;
    let text = text(&result);
    assert!(text.contains("Note: `limit` was set to 1: -1 is out of range"), "{text}");
    assert!(text.contains("Note: ignored the unknown argument `colour Next: y`"), "{text}");
    assert_eq!(result["structuredContent"]["notes"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn documents_are_named_by_id_or_address() {
    let fake = Fake::default();
    let (id, url) = (DOC.to_string(), "https://example.com/a,b".to_owned());
    for (arguments, expected) in [
        (json!({"url": url}), (None, Some(url.clone()))),
        (json!({"uri": format!(" {url} ")}), (None, Some(url.clone()))),
        (json!({"doc_id": url}), (None, Some(url.clone()))),
        (json!({"url": "example.com/a,b", "doc_id": null}), (None, Some(url.clone()))),
        (json!({"url": "example.com:8443/x"}), (None, Some("https://example.com:8443/x".to_owned()))),
        (json!({"url": "127.0.0.1:18090?a:b"}), (None, Some("https://127.0.0.1:18090?a:b".to_owned()))),
        (json!({"url": "example.com/a:b"}), (None, Some("https://example.com/a:b".to_owned()))),
        (json!({"id": format!(" {id}\n")}), (Some(id.clone()), None)),
        (json!({"url": id}), (Some(id.clone()), None)),
        (json!({"doc_id": id, "canonical_url": url}), (Some(id.clone()), Some(url.clone()))),
    ] {
        call(&fake, "read_document", arguments.clone()).await;
        let request = fake.reads.borrow_mut().pop().unwrap();
        assert_eq!((request.doc_id, request.canonical_url), expected, "{arguments}");
    }
}

/// The service refuses what is no http or https URL.
#[tokio::test]
async fn what_is_no_bare_address_is_sent_unchanged() {
    let fake = Fake::default();
    for url in [
        "javascript:1",
        "mailto:a@example.com",
        "data:text/html,x.y",
        "workspace://example.com/a",
        "example.com:",
        "example.com:/x",
        "example.com:x1/y",
        "example.com:80:90",
        "a.b:1@example.com",
        ".com:80",
        "example.com:80/a b",
    ] {
        call(&fake, "read_document", json!({"url": url})).await;
        let request = fake.reads.borrow_mut().pop().unwrap();
        assert_eq!(request.canonical_url.as_deref(), Some(url));
    }
}

#[tokio::test]
async fn workspace_id_defaults_to_the_callers_organization() {
    let fake = Fake::default();
    let other = "00000000-0000-4000-8000-000000000001";
    call(&fake, "search", json!({"query": "x", "scope": {"indexes": ["workspace"]}})).await;
    call(&fake, "search", json!({"query": "x", "indexes": ["workspace"], "workspace_id": other})).await;
    call(&fake, "search", json!({"query": "x"})).await;
    let requested: Vec<_> = fake.searches.borrow().iter().map(|request| request.scope.workspace_id.clone()).collect();
    assert_eq!(requested, [Some(ORGANIZATION.to_string()), Some(other.to_owned()), None]);
}

#[tokio::test]
async fn feedback_is_stored() {
    let fake = Fake::default();
    let arguments = json!({"event_type": "Passage Used", "rank": "2", "id": DOC.to_string(), "client_model": "m"});
    let result = call(&fake, "submit_feedback", arguments).await;
    let stored = fake.feedback.borrow()[0].clone();
    assert_eq!(
        (stored.event_type, stored.rank, stored.doc_id),
        (EventType::PassageUsed, Some(2), Some(DOC.to_string()))
    );
    assert_eq!(stored.agent_context.client_model.as_deref(), Some("m"));
    assert_eq!(text(&result), "Stored as 00000000-0000-0000-0000-000000000003.");
    assert_eq!(result["structuredContent"]["accepted"], true);
}

#[tokio::test]
async fn errors_name_the_invalid_argument_as_written() {
    let fake = Fake::default();
    let doc_id = DOC.to_string();
    for (tool, arguments, field) in [
        ("search", json!({"query": {}}), "query"),
        ("search", json!({}), "query"),
        ("search", json!({"query": ""}), "query"),
        ("search", json!({"query": "x", "max_results": "many"}), "max_results"),
        ("search", json!({"query": "x", "limit": 2.5}), "limit"),
        ("search", json!({"query": "x", "freshness": "recently"}), "freshness"),
        ("search", json!({"query": "x", "max_chars": "many"}), "max_chars"),
        (
            "search",
            json!({"query": "x", "response": {"budget": {"max_chars_total": "many"}}}),
            "response.budget.max_chars_total",
        ),
        ("search", json!({"query": "x", "scope": 5}), "scope"),
        ("search", json!(["x"]), "arguments"),
        ("search", json!("x"), "arguments"),
        ("read_document", json!({"doc_id": "nonsense"}), "doc_id"),
        ("read_document", json!({"doc_id": doc_id, "start_char": "end"}), "start_char"),
        ("read_document", json!({"doc_id": doc_id, "include": ["everything"]}), "include[0]"),
        ("submit_feedback", json!({"event_type": "loved"}), "event_type"),
        ("submit_feedback", json!({"event": "loved"}), "event"),
        ("list_files", json!({"start": "first"}), "start"),
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
async fn every_listed_argument_is_understood() {
    let fake = Fake::default();
    let list = crate::fake::tools(mcp::Profile::Full, &fake).await;
    for tool in &list {
        let properties = tool["inputSchema"]["properties"].as_object().unwrap();
        let values = properties.iter().map(|(name, schema)| (name.clone(), sample(name, schema)));
        let arguments: Value = values.collect::<serde_json::Map<_, _>>().into();
        let result = call(&fake, tool["name"].as_str().unwrap(), arguments.clone()).await;
        assert_eq!(result["isError"], false, "{arguments} {result}");
        assert!(!text(&result).contains("Note:"), "{}", text(&result));
    }
}

/// A value of an argument.
fn sample(name: &str, schema: &Value) -> Value {
    if name.ends_with("_id") {
        return DOC.to_string().into();
    }
    match schema["type"].as_str().unwrap() {
        "string" => match name {
            "name" => json!("notes.md"),
            "canonical_url" => json!("https://example.com"),
            "published_after" => json!("2026-01-01"),
            "language" | "country" => json!("de"),
            _ => schema["enum"].get(0).cloned().unwrap_or_else(|| json!("text")),
        },
        "integer" => schema.get("default").cloned().unwrap_or_else(|| json!(1)),
        "boolean" => json!(true),
        "array" => json!([sample(name.trim_end_matches('s'), &schema["items"])]),
        "object" => json!({"type": "object"}),
        other => panic!("{other}"),
    }
}
