#![allow(clippy::unwrap_used)]

use api_types::validation::{Violation, first_violation};
use api_types::{
    CitationsVerifyRequest, DocumentRequest, DocumentsRequest, ErrorCode, FeedbackRequest, IndexRequest,
    PresignRequest, SearchRequest, Verbosity, schemas,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Returns the path of the refused field, `.` for the root, or `None` if the body is accepted.
fn refused_at<T: DeserializeOwned>(body: &Value) -> Option<String> {
    let text = body.to_string();
    let mut json = serde_json::Deserializer::from_str(&text);
    serde_path_to_error::deserialize::<_, T>(&mut json).err().map(|error| error.path().to_string())
}

fn check_search(body: Value, expected: Option<&str>) {
    assert_eq!(refused_at::<SearchRequest>(&body).as_deref(), expected, "{body}");
}

fn check_document(body: Value, expected: Option<&str>) {
    assert_eq!(refused_at::<DocumentRequest>(&body).as_deref(), expected, "{body}");
}

#[test]
fn search_refuses_unknown_fields_at_every_depth() {
    check_search(json!({"query": "x", "nope": 1}), Some("nope"));
    check_search(json!({"query": "x", "filters": {"nope": 1}}), Some("filters.nope"));
    check_search(json!({"query": "x", "freshness_policy": {"nope": 1}}), Some("freshness_policy.nope"));
    check_search(json!({"query": "x", "response": {"nope": 1}}), Some("response.nope"));
    check_search(json!({"query": "x", "response": {"budget": {"nope": 1}}}), Some("response.budget.nope"));
    check_search(json!({"query": "x", "scope": {"nope": 1}}), Some("scope.nope"));
    check_search(json!({"query": "x", "source_policy": {"nope": 1}}), Some("source_policy.nope"));
}

#[test]
fn other_requests_refuse_unknown_fields_at_every_depth() {
    check_document(json!({"session_id": "x"}), Some("session_id"));
    check_document(json!({"content": {"nope": 1}}), Some("content.nope"));
    check_document(json!({"content": {"range": {"nope": 1}}}), Some("content.range.nope"));
    let feedback = json!({"event_type": "stale_result", "agent_context": {"nope": 1}});
    assert_eq!(refused_at::<FeedbackRequest>(&feedback).as_deref(), Some("agent_context.nope"));
    assert_eq!(refused_at::<IndexRequest>(&json!({"nope": 1})).as_deref(), Some("nope"));
    let presign = json!({"filename": "a.txt", "size": 1, "nope": 1});
    assert_eq!(refused_at::<PresignRequest>(&presign).as_deref(), Some("nope"));
}

#[test]
fn null_is_accepted_only_for_nullable_fields() {
    check_search(json!({"query": "x", "search_queries": null, "scope": {"indexes": null}}), None);
    for field in ["client_model", "filters", "freshness_policy", "max_results", "response", "scope", "session_id"] {
        check_search(json!({"query": "x", field: null}), Some(field));
    }
    check_search(json!({"query": null}), Some("query"));
    check_search(
        json!({"query": "x", "source_policy": {"include_domains": null}}),
        Some("source_policy.include_domains"),
    );
    check_search(
        json!({"query": "x", "response": {"budget": {"max_chars_total": null}}}),
        Some("response.budget.max_chars_total"),
    );
    check_search(json!({"query": "x", "freshness_policy": {"freshness": null}}), Some("freshness_policy.freshness"));
    check_search(json!({"query": "x", "scope": {"workspace_id": null}}), Some("scope.workspace_id"));
    for field in ["doc_id", "canonical_url", "include", "query", "content", "debug"] {
        check_document(json!({field: null}), Some(field));
    }
    check_document(json!({"content": {"range": null}}), Some("content.range"));
    check_document(json!({"content": {"range": {"max_chars": null}}}), Some("content.range.max_chars"));
    assert_eq!(refused_at::<IndexRequest>(&json!({"mode": null})).as_deref(), Some("mode"));
}

#[test]
fn objects_and_enums_have_one_json_form() {
    for field in ["filters", "freshness_policy", "response", "scope", "source_policy"] {
        check_search(json!({"query": "x", field: []}), Some(field));
        check_search(json!({"query": "x", field: "x"}), Some(field));
    }
    check_search(json!({"query": "x", "filters": ["de"]}), Some("filters"));
    check_search(json!({"query": "x", "response": {"budget": [1]}}), Some("response.budget"));
    check_search(
        json!({"query": "x", "freshness_policy": {"freshness": {"pd": null}}}),
        Some("freshness_policy.freshness"),
    );
    check_search(json!({"query": "x", "scope": {"indexes": [{"web": null}]}}), Some("scope.indexes[0]"));
    check_search(
        json!({"query": "x", "response": {"budget": {"on_exceed": {"shed": null}}}}),
        Some("response.budget.on_exceed"),
    );
    check_document(json!({"content": []}), Some("content"));
    check_document(json!({"content": {"range": [0]}}), Some("content.range"));
    check_document(json!({"content": {"selection": {"none": null}}}), Some("content.selection"));
    check_document(json!({"include": [{"metadata": null}]}), Some("include[0]"));
    let feedback = |body: Value| refused_at::<FeedbackRequest>(&body);
    assert_eq!(feedback(json!({"event_type": {"stale_result": null}})).as_deref(), Some("event_type"));
    assert_eq!(feedback(json!({"event_type": "stale_result", "agent_context": []})).as_deref(), Some("agent_context"));
    assert_eq!(refused_at::<IndexRequest>(&json!({"mode": {"full": null}})).as_deref(), Some("mode"));
    let id = "00000000-0000-0000-0000-000000000000";
    let documents = |list: Value| refused_at::<DocumentsRequest>(&json!({"documents": list}));
    assert_eq!(documents(json!([{"doc_id": id}, {}])), None);
    assert_eq!(documents(json!([[id, "https://a.example/", id]])).as_deref(), Some("documents[0]"));
    assert_eq!(documents(json!([{"doc_id": id}, "x"])).as_deref(), Some("documents[1]"));
    assert_eq!(documents(json!([{"doc_id": id}, {"nope": 1}])).as_deref(), Some("documents[1].nope"));
    assert_eq!(documents(json!({})).as_deref(), Some("documents"));
    let citations = |list: Value| refused_at::<CitationsVerifyRequest>(&json!({"citations": list}));
    assert_eq!(citations(json!([{"doc_id": id, "quote": "x"}])), None);
    assert_eq!(citations(json!([[id, id, "x", 0, 1]])).as_deref(), Some("citations[0]"));
    assert_eq!(citations(json!([null])).as_deref(), Some("citations[0]"));
}

#[test]
fn integers_accept_a_zero_fraction() {
    let request: SearchRequest = serde_json::from_value(json!({"query": "x", "max_results": 20.0})).unwrap();
    assert_eq!(request.max_results, 20);
    check_search(json!({"query": "x", "response": {"budget": {"max_chars_total": 4e3}}}), None);
    check_document(json!({"content": {"range": {"start_char": 0.0, "max_chars": 1.0}}}), None);
    check_search(json!({"query": "x", "max_results": 1.5}), Some("max_results"));
    check_search(json!({"query": "x", "max_results": 1e300}), Some("max_results"));
    check_search(json!({"query": "x", "max_results": u64::MAX}), Some("max_results"));
    check_search(json!({"query": "x", "max_results": "10"}), Some("max_results"));
    check_search(json!({"query": "x", "max_results": true}), Some("max_results"));
    let presign = json!({"filename": "a.txt", "size": 0.5});
    assert_eq!(refused_at::<PresignRequest>(&presign).as_deref(), Some("size"));
}

#[test]
fn schema_annotations_of_any_type_are_ignored() {
    check_search(json!({"query": "x", "$schema": "https://example.com/schemas/SearchRequest.json"}), None);
    check_search(json!({"query": "x", "$schema": {"any": [1]}}), None);
    assert_eq!(refused_at::<IndexRequest>(&json!({"$schema": "x"})), None);
}

#[test]
fn unknown_verbosity_is_accepted_if_a_string() {
    let request: SearchRequest =
        serde_json::from_value(json!({"query": "x", "response": {"verbosity": "chatty"}})).unwrap();
    assert_eq!(request.response.verbosity, Verbosity::Unrecognized("chatty".to_owned()));
    check_search(json!({"query": "x", "response": {"verbosity": 3}}), Some("response.verbosity"));
    check_search(json!({"query": "x", "response": {"verbosity": null}}), Some("response.verbosity"));
}

#[test]
fn other_enums_refuse_unknown_values() {
    check_search(json!({"query": "x", "freshness_policy": {"freshness": "pz"}}), Some("freshness_policy.freshness"));
    check_search(json!({"query": "x", "scope": {"indexes": ["web", "mars"]}}), Some("scope.indexes[1]"));
    check_search(json!({"query": "x", "response": {"budget": {"on_exceed": "x"}}}), Some("response.budget.on_exceed"));
    check_document(json!({"include": ["metadata", "x"]}), Some("include[1]"));
    check_document(json!({"content": {"selection": "x"}}), Some("content.selection"));
}

fn violation<T: DeserializeOwned + validator::Validate>(body: Value) -> Option<Violation> {
    first_violation(&serde_json::from_value::<T>(body).unwrap())
}

fn check_violation<T: DeserializeOwned + validator::Validate>(body: Value, field: &str, message: &str) {
    let expected = Violation { field: field.to_owned(), message: message.to_owned() };
    assert_eq!(violation::<T>(body), Some(expected));
}

#[test]
fn values_out_of_range_name_their_field() {
    let long = "é".repeat(8193);
    check_violation::<SearchRequest>(json!({"query": ""}), "query", "query must have 1 to 8192 characters");
    check_violation::<SearchRequest>(json!({"query": long}), "query", "query must have 1 to 8192 characters");
    assert_eq!(violation::<SearchRequest>(json!({"query": "é".repeat(8192)})), None);
    for max_results in [0, 51, -1] {
        check_violation::<SearchRequest>(
            json!({"query": "x", "max_results": max_results}),
            "max_results",
            "max_results must be between 1 and 50",
        );
    }
    check_violation::<SearchRequest>(
        json!({"query": "x", "response": {"budget": {"max_chars_total": 0}}}),
        "response.budget.max_chars_total",
        "response.budget.max_chars_total must be at least 1",
    );
    check_violation::<SearchRequest>(
        json!({"query": "x", "search_queries": ["a", long]}),
        "search_queries[1]",
        "search_queries[1] must have at most 8192 characters",
    );
    assert_eq!(violation::<SearchRequest>(json!({"query": "x", "search_queries": vec!["a"; 16]})), None);
    check_violation::<SearchRequest>(
        json!({"query": "x", "search_queries": vec!["a"; 17]}),
        "search_queries",
        "search_queries must have at most 16 items, not 17",
    );
    check_violation::<DocumentRequest>(
        json!({"content": {"range": {"start_char": -1}}}),
        "content.range.start_char",
        "content.range.start_char must be at least 0",
    );
    check_violation::<FeedbackRequest>(
        json!({"event_type": "passage_used", "comment": "x".repeat(4097)}),
        "comment",
        "comment must have at most 4096 characters",
    );
    check_violation::<PresignRequest>(
        json!({"filename": "", "size": 1}),
        "filename",
        "filename must have 1 to 512 characters",
    );
    assert_eq!(violation::<PresignRequest>(json!({"filename": "😀".repeat(512), "size": 0})), None);
}

#[test]
fn identifiers_must_be_hyphenated_uuids() {
    let id = "0190a6d2-6a5c-7cc0-8c5e-0f4c5a1b2c3d";
    assert_eq!(violation::<SearchRequest>(json!({"query": "x", "session_id": id})), None);
    assert_eq!(violation::<SearchRequest>(json!({"query": "x", "session_id": id.to_uppercase()})), None);
    for bad in ["", "abc", "0190a6d26a5c7cc08c5e0f4c5a1b2c3d", "{0190a6d2-6a5c-7cc0-8c5e-0f4c5a1b2c3d}"] {
        check_violation::<SearchRequest>(
            json!({"query": "x", "session_id": bad}),
            "session_id",
            "session_id must be a UUID",
        );
    }
    check_violation::<SearchRequest>(
        json!({"query": "x", "scope": {"workspace_id": "mine"}}),
        "scope.workspace_id",
        "scope.workspace_id must be a UUID",
    );
}

#[test]
fn long_lists_are_refused_with_field_count_and_maximum() {
    let texts = |count: usize| vec!["a.example"; count];
    for field in ["include_domains", "exclude_domains"] {
        let policy = |count| json!({"query": "x", "source_policy": {field: texts(count)}});
        assert_eq!(violation::<SearchRequest>(policy(1000)), None);
        let path = format!("source_policy.{field}");
        let message = format!("{path} must have at most 1000 items, not 1001");
        check_violation::<SearchRequest>(policy(1001), &path, &message);
    }
    check_violation::<SearchRequest>(
        json!({"query": "x", "scope": {"indexes": vec!["web"; 17]}}),
        "scope.indexes",
        "scope.indexes must have at most 16 items, not 17",
    );
    check_violation::<DocumentRequest>(
        json!({"doc_id": "0190a6d2-6a5c-7cc0-8c5e-0f4c5a1b2c3d", "include": vec!["content"; 17]}),
        "include",
        "include must have at most 16 items, not 17",
    );
    check_violation::<DocumentRequest>(
        json!({"canonical_url": "https://a.example/", "content": {"passage_ids": texts(1001)}}),
        "content.passage_ids",
        "content.passage_ids must have at most 1000 items, not 1001",
    );
}

/// Asserts that each list below `value` has a maximum, and returns the number of lists.
fn check_bounded(value: &Value, pointer: &str) -> usize {
    let below = match value {
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    let is_list = value["type"] == "array" || value["type"].as_array().is_some_and(|all| all.contains(&json!("array")));
    assert!(!is_list || value["maxItems"].is_u64(), "{pointer} has no maximum");
    usize::from(is_list)
        + below.iter().map(|(name, value)| check_bounded(value, &format!("{pointer}/{name}"))).sum::<usize>()
}

#[test]
fn every_list_of_a_request_has_a_maximum() {
    let requests = schemas::names().filter(|name| name.ends_with("Request"));
    let lists = requests.map(|name| check_bounded(&serde_json::to_value(schemas::json_schema(name)).unwrap(), name));
    assert!(lists.sum::<usize>() >= 6);
}

#[test]
fn schemas_state_what_the_types_enforce() {
    let search = serde_json::to_value(schemas::json_schema("SearchRequest").unwrap()).unwrap();
    assert_eq!(search["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(search["additionalProperties"], false);
    assert_eq!(search["required"], json!(["query"]));
    assert_eq!(search["properties"]["max_results"]["maximum"], 50);
    assert_eq!(search["properties"]["max_results"]["default"], 10);
    assert_eq!(search["properties"]["query"]["minLength"], 1);
    assert_eq!(search["properties"]["session_id"]["format"], "uuid");
    assert_eq!(search["properties"]["session_id"]["type"], "string");
    assert_eq!(search["properties"]["search_queries"]["type"], json!(["array", "null"]));
    assert_eq!(search["properties"]["search_queries"]["maxItems"], 16);
    assert_eq!(search["$defs"]["Verbosity"]["enum"], json!(["ids_only", "compact", "standard", "full"]));

    let result = serde_json::to_value(schemas::json_schema("SearchResponse").unwrap()).unwrap();
    assert_eq!(result["$defs"]["SearchResult"]["required"], json!(["rank", "doc_id", "canonical_url"]));

    let run = serde_json::to_value(schemas::json_schema("IndexStatusResponse").unwrap()).unwrap();
    for field in ["started_at", "completed_at", "error"] {
        assert!(run["required"].as_array().unwrap().contains(&json!(field)), "{field} is always written");
    }
}

#[test]
fn requests_are_written_without_defaults() {
    let written = |body: Value| {
        let request: SearchRequest = serde_json::from_value(body).unwrap();
        serde_json::to_value(request).unwrap()
    };
    for body in [
        json!({}),
        json!({"max_results": 10, "filters": {"exact_match": false, "labels": []}, "scope": {}, "freshness_policy": {}}),
        json!({"response": {"verbosity": "standard", "max_passages_per_result": 3, "budget": {"on_exceed": "shed"}}}),
        json!({"source_policy": {"include_domains": [], "require_domain_match": false}}),
    ] {
        let mut body = body;
        body["query"] = "x".into();
        assert_eq!(written(body.clone()), json!({"query": "x"}), "{body}");
    }
    assert_eq!(written(json!({"query": "x", "max_results": 11})), json!({"query": "x", "max_results": 11}));
}

#[test]
fn every_schema_is_found_by_its_name_and_described() {
    for name in schemas::names() {
        let schema = serde_json::to_value(schemas::json_schema(name).unwrap()).unwrap();
        assert_eq!(schema["title"], name);
        assert!(schema["description"].is_string(), "{name}");
    }
    assert!(schemas::json_schema("Nope").is_none());
}

#[test]
fn nullable_lists_are_omitted_null_or_present() {
    let hit = |labels: Value| {
        let mut hit =
            json!({"rank": 1, "doc_id": "0190a6d2-6a5c-7cc0-8c5e-0f4c5a1b2c3d", "canonical_url": "https://a.example/"});
        if !labels.is_string() {
            hit["labels"] = labels;
        }
        hit
    };
    for shown in [json!("left out"), Value::Null, json!(["kind:pdf"])] {
        let written: api_types::SearchResult = serde_json::from_value(hit(shown.clone())).unwrap();
        assert_eq!(serde_json::to_value(&written).unwrap(), hit(shown));
    }
}

#[test]
fn codes_are_snake_case_with_a_known_status() {
    for code in ErrorCode::ALL {
        assert!(code.as_str().chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{}", code.as_str());
        assert!((400..=507).contains(&code.status()));
        assert!(!code.meaning().is_empty());
    }
    assert_eq!((ErrorCode::ProviderUnavailable.status(), ErrorCode::RetrievalNotConfigured.status()), (502, 503));
}

#[test]
fn unknown_codes_of_newer_servers_are_readable_but_unpublished() {
    let warning: api_types::Warning =
        serde_json::from_value(json!({"code": "something_new", "message": "x", "details": {}})).unwrap();
    assert_eq!(warning.code, api_types::WarningCode::Unknown);
    assert_eq!(serde_json::from_value::<api_types::RunState>(json!("paused")).unwrap(), api_types::RunState::Unknown);
    assert_eq!(serde_json::from_value::<api_types::RunState>(json!("running")).unwrap(), api_types::RunState::Running);
    let published = Value::from(schemas::components("#/components/schemas/"));
    for name in ["WarningCode", "RunState"] {
        assert!(published[name].is_object(), "{name}");
        assert!(!published[name].to_string().contains("unknown\""), "{}", published[name]);
    }
}
