//! Kept captures, citations, and records of searches over HTTP.

use actix_web::test::TestRequest;
use model::Scope;
use serde_json::{Value, json};
use test_support::page;

use crate::api::Api;

const PATH: &str = "/v1/citations/verify";
const URL: &str = "https://example.com/tides";

/// A page that was read and has been replaced since: its id, and the first capture.
async fn with_replaced_page(api: &Api) -> (String, String) {
    api.world.import_one(page(URL, "# Tides\n\nThe tide rises at six. Then it falls.")).await;
    let first = api.post("/v1/document", &json!({"canonical_url": URL})).await.json();
    api.world.import_one(page(URL, "# Tides\n\nThe tide rises at seven. Then it falls.")).await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&first["doc"]["doc_id"]), text(&first["provenance"]["capture_id"]))
}

#[actix_web::test]
async fn citations_are_compared_with_the_cited_and_the_latest_capture() {
    let api = Api::new().await;
    let (doc_id, capture_id) = with_replaced_page(&api).await;
    let quote = "The tide rises at six.";
    let citations = json!([
        {"doc_id": doc_id, "capture_id": capture_id, "quote": quote, "char_start": 9, "char_end": 31},
        {"doc_id": doc_id, "capture_id": capture_id, "quote": "Then it falls.", "char_start": 0},
        {"doc_id": "0190a6d2-6a60-7b11-9c2f-2a8d6e4f7b90", "quote": quote},
        {"doc_id": doc_id, "quote": quote},
    ]);
    let answer = api.post(PATH, &json!({"citations": citations})).await;
    assert_eq!(answer.status, 200);
    let body = answer.json();
    let results = body["results"].as_array().unwrap();
    let place = |value: &Value| (value["status"].clone(), value["char_start"].clone(), value["char_end"].clone());
    assert_eq!(place(&results[0]), (json!("exact"), json!(9), json!(31)));
    assert_eq!(results[0]["capture_id"], json!(capture_id));
    let latest = &results[0]["latest"];
    assert_eq!(place(latest), (json!("changed"), json!(9), json!(33)));
    assert_eq!(latest["text"], "The tide rises at seven.");
    assert_eq!(latest["difference"], json!([{"char_start": 19, "removed": "ix", "added": "even"}]));
    assert_eq!(place(&results[1]), (json!("moved"), json!(32), json!(46)));
    assert_eq!(place(&results[1]["latest"]), (json!("moved"), json!(34), json!(48)));
    assert_eq!(results[2], json!({"status": "gone", "latest": {"status": "gone"}}));
    assert_eq!(results[3]["status"], "changed");
    assert_eq!(results[3]["capture_id"], latest["capture_id"]);
    assert_eq!(body["usage"]["bytes_returned"], answer.bytes.len());
    assert!(api.recorded().await.contains(&("POST /v1/citations/verify".to_owned(), 200)));
}

#[actix_web::test]
async fn kept_capture_is_read_by_its_id() {
    let api = Api::new().await;
    let (doc_id, capture_id) = with_replaced_page(&api).await;
    let body = api.post("/v1/document", &json!({"doc_id": doc_id, "capture_id": capture_id})).await.json();
    assert_eq!(body["content"]["text"], "# Tides\n\nThe tide rises at six. Then it falls.");
    assert_eq!(body["provenance"]["capture_id"], json!(capture_id));
    assert_ne!(body["doc"]["latest_capture_id"], json!(capture_id));
    assert_eq!(body["capture_history"][0]["capture_id"], body["doc"]["latest_capture_id"]);
    assert_eq!(body["doc"]["headings"], json!(["Tides"]));
    let range = json!({"start_char": 9, "max_chars": 8, "capture_id": capture_id});
    let request = json!({"doc_id": doc_id, "capture_id": capture_id, "content": {"range": range}});
    let part = api.post("/v1/document", &request).await.json();
    assert_eq!(part["content"]["text"], "The tide");
    let codes: Vec<&str> =
        part["warnings"].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["content_truncated"], "the range is that of the capture");
    let unpinned = json!({"doc_id": doc_id, "content": {"range": range}});
    let part = api.post("/v1/document", &unpinned).await.json();
    assert_eq!(part["warnings"][0]["code"], "stale_range");

    let unknown = "0190a6d2-6a60-7b11-9c2f-2a8d6e4f7b90";
    let gone = api.post("/v1/document", &json!({"doc_id": doc_id, "capture_id": unknown})).await;
    gone.expect_error(404, "document_not_found");
    api.post("/v1/document", &json!({"doc_id": doc_id, "capture_id": "x"})).await.expect_invalid("capture_id");
    let documents = json!({"documents": [
        {"doc_id": doc_id, "capture_id": capture_id}, {"doc_id": doc_id, "capture_id": unknown}, {"doc_id": doc_id},
    ]});
    let several = api.post("/v1/documents", &documents).await.json();
    assert_eq!(several["results"][0]["document"]["provenance"]["capture_id"], json!(capture_id));
    assert_eq!(several["results"][1]["error"]["code"], "document_not_found");
    assert_ne!(several["results"][2]["document"]["provenance"]["capture_id"], json!(capture_id));
}

#[actix_web::test]
async fn range_of_another_capture_is_stale_unless_that_is_the_latest() {
    let api = Api::new().await;
    let (doc_id, first) = with_replaced_page(&api).await;
    let latest = api.post("/v1/document", &json!({"doc_id": doc_id})).await.json()["provenance"]["capture_id"].clone();
    let first = json!(first);
    let other = json!("0190a6d2-6a60-7b11-9c2f-2a8d6e4f7b90");
    let all = json!(["metadata", "passages", "capture_history", "content"]);
    let whole = json!("full_document");
    for (pinned, requested, include, selection, is_stale) in [
        (None, &first, all.clone(), &whole, true),
        (None, &first, json!(["metadata", "passages"]), &whole, true),
        (None, &first, json!(["content"]), &whole, true),
        (None, &first, json!(["metadata", "capture_history"]), &whole, false),
        (None, &first, all.clone(), &json!("none"), false),
        (None, &latest, all.clone(), &whole, false),
        (Some(&first), &first, all.clone(), &whole, false),
        (Some(&first), &latest, all.clone(), &whole, false),
        (Some(&first), &other, all.clone(), &whole, true),
        (Some(&first), &other, json!(["passages"]), &whole, true),
        (Some(&latest), &first, all.clone(), &whole, true),
    ] {
        let content = json!({"selection": selection, "range": {"start_char": 9, "capture_id": requested}});
        let mut request = json!({"doc_id": doc_id, "include": include, "content": content});
        if let Some(capture_id) = pinned {
            request["capture_id"] = capture_id.clone();
        }
        let read = api.post("/v1/document", &request).await.json();
        let warnings = read["warnings"].as_array().into_iter().flatten();
        let stale: Vec<&Value> =
            warnings.filter(|warning| warning["code"] == "stale_range").map(|warning| &warning["details"]).collect();
        let details = json!({"requested_capture_id": requested, "latest_capture_id": latest});
        let expected = if is_stale { vec![&details] } else { Vec::new() };
        assert_eq!(stale, expected, "{request}");
    }
}

#[actix_web::test]
async fn invalid_citations_are_refused_by_field() {
    let api = Api::new().await;
    let id = "0190a6d2-6a60-7b11-9c2f-2a8d6e4f7b90";
    let valid = json!({"doc_id": id, "quote": "x"});
    for (citation, field) in [
        (json!({"doc_id": "x", "quote": "x"}), "citations[1].doc_id"),
        (json!({"quote": "x"}), "citations[1].doc_id"),
        (json!({"doc_id": id}), "citations[1].quote"),
        (json!({"doc_id": id, "quote": ""}), "citations[1].quote"),
        (json!({"doc_id": id, "quote": "x".repeat(8_193)}), "citations[1].quote"),
        (json!({"doc_id": id, "quote": "x", "capture_id": "7"}), "citations[1].capture_id"),
        (json!({"doc_id": id, "quote": "x", "char_start": -1}), "citations[1].char_start"),
        (json!({"doc_id": id, "quote": "x", "char_start": 1.5}), "citations[1].char_start"),
        (json!({"doc_id": id, "quote": "x", "char_start": 1e30}), "citations[1].char_start"),
        (json!({"doc_id": id, "quote": "x", "char_end": 0}), "citations[1].char_end"),
        (json!({"doc_id": id, "quote": "x", "char_start": 5, "char_end": 5}), "citations[1].char_end"),
        (json!({"doc_id": id, "quote": "x", "char_start": 5, "char_end": 4}), "citations[1].char_end"),
        (json!({"doc_id": id, "quote": "x", "page": 4}), "citations[1].page"),
    ] {
        api.post(PATH, &json!({"citations": [valid, citation]})).await.expect_invalid(field);
    }
    let many = |count: usize| json!({"citations": vec![valid.clone(); count]});
    for count in [0, 51] {
        api.post(PATH, &many(count)).await.expect_invalid("citations");
    }
    assert_eq!(api.post(PATH, &many(50)).await.json()["results"].as_array().unwrap().len(), 50);
    let far = json!({"doc_id": id, "quote": "x".repeat(8_192), "char_start": i64::MAX - 1, "char_end": i64::MAX});
    assert_eq!(api.post(PATH, &json!({"citations": [far]})).await.status, 200);
}

#[actix_web::test]
async fn recorded_search_is_explained_to_its_organization() {
    let api = Api::new().await;
    api.world.import_one(page(URL, "The tide rises at six.")).await;
    let request =
        json!({"query": "tide", "client_model": "secret-model", "filters": {"exact_match": true}, "max_results": 10});
    let found = api.search(request).await.json();
    let path = format!("/v1/searches/{}", found["search_id"].as_str().unwrap());
    let record = api.get(&path).await;
    assert_eq!(record.status, 200);
    let record = record.json();
    assert_eq!(record["request"], json!({"query": "tide", "filters": {"exact_match": true}}), "without defaults");
    assert_eq!((&record["session_id"], &record["search_id"]), (&found["session_id"], &found["search_id"]));
    assert_eq!(record["ranking"], found["ranking"]);
    assert!(record["index_generations"]["web"].is_string() && record["index_generations"]["workspace"].is_null());
    let result = &record["results"][0];
    assert_eq!((&result["rank"], &result["index"]), (&json!(1), &json!("web")));
    assert_eq!(result["score"], found["results"][0]["score"]);
    assert_eq!(result["explain"]["first_stage"]["rank"], 1);
    assert_eq!(result["explain"]["lexical"]["rank"], 1);
    assert!(result["explain"].get("model").is_none());

    let other = api.world.tenant().await;
    let theirs = TestRequest::get().uri(&path).insert_header(("Authorization", format!("Bearer {}", other.key)));
    api.send(theirs).await.expect_error(404, "search_not_found");
    api.get("/v1/searches/nonsense").await.expect_error(404, "search_not_found");
    for (path, scope) in [(path.as_str(), Scope::DocumentRead), (PATH, Scope::SearchRead)] {
        let bearer = api.bearer_with(&[scope]).await;
        let request = if path == PATH { TestRequest::post() } else { TestRequest::get() };
        let answer = api.send(request.uri(path).insert_header(("Authorization", bearer))).await;
        answer.expect_error(403, "insufficient_scope");
    }
}
