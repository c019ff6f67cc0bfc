use std::sync::mpsc;
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::{Value, json};
use test_support::site::{Page, Site};
use test_support::{Setup, page};
use uuid::Uuid;

use crate::api::{Answer, Api, PUBLIC_URL};
use crate::corpus::web_page;

const URL: &str = "https://example.com/1";

/// An API with one page that its organization may read, and the id of the page.
async fn with_page() -> (Api, String) {
    let api = Api::new().await;
    let doc_id = api.world.import_one(web_page(1)).await.to_string();
    read(&api, json!({"canonical_url": URL, "include": ["metadata"]})).await;
    (api, doc_id)
}

async fn read(api: &Api, body: Value) -> Answer {
    let answer = api.post("/v1/document", &body).await;
    assert_eq!(answer.status, 200, "{body}: {}", answer.json());
    answer
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[actix_web::test]
async fn a_bare_read_has_the_documented_defaults() {
    let (api, doc_id) = with_page().await;
    let answer = read(&api, json!({"canonical_url": URL})).await;
    let body = answer.json();
    let sections = [
        "$schema",
        "access",
        "capture_history",
        "content",
        "doc",
        "passages",
        "provenance",
        "request_id",
        "session_id",
        "usage",
    ];
    assert_eq!(keys(&body), sections, "all sections, and no warnings");
    assert_eq!(body["doc"]["doc_id"], json!(doc_id));
    let content = &body["content"];
    assert_eq!((&content["selection"], &content["format"]), (&json!("full_document"), &json!("markdown")));
    assert_eq!((&content["truncated"], content.get("start_char")), (&json!(false), None));
    assert_eq!(content["text"], web_page(1).markdown);
    assert_eq!(content["char_count"], web_page(1).markdown.chars().count());
    assert_eq!(body["passages"].as_array().unwrap().len(), 3);
    assert!(body["passages"][0].get("char_start").is_none());
    assert_eq!(body["usage"], json!({"requests": 1, "bytes_returned": answer.bytes.len()}));
}

#[actix_web::test]
async fn every_field_has_its_effect() {
    let (api, doc_id) = with_page().await;
    let passages = read(&api, json!({"doc_id": doc_id})).await.json()["passages"].clone();
    let other = Uuid::from_u128(1);
    let body = json!({
        "doc_id": doc_id,
        "canonical_url": "not even a url",
        "include": ["passages", "content"],
        "query": "q",
        "content": {
            "selection": "passage_ids", "format": "text", "max_chars": 5, "include_offsets": true,
            "passage_ids": ["not a uuid", passages[1]["passage_id"]],
            "range": {"start_char": 5, "max_chars": 7, "capture_id": other},
        },
        "debug": {"anything": [1, {"at": "all"}]},
    });
    let body = read(&api, body).await.json();
    assert_eq!(body["doc"]["doc_id"], json!(doc_id), "doc_id wins");
    assert!(body.get("capture_history").is_none());
    let found = body["passages"].as_array().unwrap();
    assert_eq!((found.len(), &found[0]["passage_id"]), (1, &passages[1]["passage_id"]));
    let length = passages[1]["text"].as_str().unwrap().chars().count() as u64;
    assert_eq!(found[0]["char_end"].as_u64().unwrap() - found[0]["char_start"].as_u64().unwrap(), length);
    let whole = &body["content"];
    assert_eq!((&whole["selection"], &whole["format"]), (&json!("passage_ids"), &json!("text")));
    assert_eq!((&whole["start_char"], &whole["char_count"], &whole["truncated"]), (&json!(5), &json!(7), &json!(true)));
    assert!(!whole["text"].as_str().unwrap().contains('#'), "markdown became text");
    let codes: Vec<_> = body["warnings"].as_array().unwrap().iter().map(|warning| warning["code"].clone()).collect();
    assert_eq!(codes, ["stale_passage_id", "stale_range", "content_truncated"]);
}

#[actix_web::test]
async fn a_range_may_start_anywhere() {
    let (api, doc_id) = with_page().await;
    let start = 4_611_686_018_427_387_904_i64;
    let body = read(&api, json!({"doc_id": doc_id, "content": {"range": {"start_char": start}}})).await.json();
    assert_eq!((&body["content"]["text"], &body["content"]["start_char"]), (&json!(""), &json!(start)));
}

#[actix_web::test]
async fn a_query_selects_the_passages_that_answer_it() {
    let (api, doc_id) = with_page().await;
    let content = json!({"selection": "query_relevant"});
    let body = read(&api, json!({"doc_id": doc_id, "query": "moon", "content": content})).await.json();
    let found = body["passages"].as_array().unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0]["ordinal"], &found[0]["section_path"]), (&json!(1), &json!(["Root"])));
    assert_eq!(body["content"]["selection"], "query_relevant");
}

#[actix_web::test]
async fn metadata_alone_fetches_nothing() {
    let (api, site) = (Api::new().await, Site::start());
    let url = site.put("/a", Page::html("<p>Tides.</p>"));
    let answer = read(&api, json!({"canonical_url": url, "include": ["metadata"]})).await;
    assert_eq!(site.hits("/a"), 0);
    assert!(answer.json().get("warnings").is_none());
}

#[actix_web::test]
async fn a_long_document_does_not_wait_for_the_threads_of_short_requests() {
    let mut setup = Setup::default();
    setup.options.shares.cores = 1;
    let api = Api::with(setup).await;
    api.world.import_one(page(URL, &"The tides come and go.\n\n".repeat(30_000))).await;
    // The only thread for short requests is busy until the end.
    let (end, ended) = mpsc::channel::<()>();
    let mut busy = Box::pin(api.world.app.compute_for(api.tenant.organization_id, 0, move || ended.recv().is_err()));
    assert!((&mut busy).now_or_never().is_none());
    let body = json!({"canonical_url": URL, "include": ["content"]});
    let answer = tokio::time::timeout(Duration::from_secs(60), read(&api, body)).await.unwrap();
    assert!(answer.bytes.len() > 600 << 10, "{} bytes", answer.bytes.len());
    drop(end);
    assert!(busy.await.unwrap());
}

#[actix_web::test]
async fn absent_values_are_left_out() {
    let api = Api::new().await;
    let answer = read(&api, json!({"canonical_url": "https://example.com/unread", "include": ["metadata"]})).await;
    let body = answer.json();
    assert_eq!(keys(&body), ["$schema", "access", "doc", "request_id", "session_id", "usage"]);
    assert_eq!(body["$schema"], format!("{PUBLIC_URL}/schemas/DocumentResponse.json"));
    assert_eq!(keys(&body["doc"]), ["canonical_url", "doc_id", "first_seen_at", "last_seen_at", "source_url"]);
    assert!(body["doc"]["first_seen_at"].as_str().unwrap().ends_with('Z'));
    assert_eq!(body["usage"], json!({"requests": 1, "bytes_returned": answer.bytes.len()}));
}

#[actix_web::test]
async fn every_section_is_written() {
    let (api, doc_id) = with_page().await;
    let content = json!({"include_offsets": true, "format": "text"});
    let answer = read(&api, json!({"doc_id": doc_id, "content": content})).await;
    let body = answer.json();
    let text = body["content"]["text"].as_str().unwrap();
    assert!(text.contains("naïve café 🦀") && !text.contains("# Root"));
    assert_eq!(body["content"]["char_count"], text.chars().count());
    assert!(body["content"].get("start_char").is_none(), "start_char 0 is left out");
    let passages = body["passages"].as_array().unwrap();
    for pair in passages.windows(2) {
        assert_eq!(pair[0]["char_end"], pair[1]["char_start"]);
    }
    assert_eq!(passages[0]["char_start"], 0);
    assert_eq!(passages[2]["char_end"], web_page(1).markdown.chars().count());
    assert_eq!((&passages[0]["section_path"], &passages[2]["section_heading"]), (&Value::Null, &json!("Überschrift")));
    let capture = &body["capture_history"][0];
    assert_eq!(keys(&body["provenance"]), ["capture_id", "capture_time"]);
    assert_eq!(body["provenance"]["capture_id"], capture["capture_id"]);
    assert_eq!(body["provenance"]["capture_time"], capture["capture_time"]);
    assert_eq!(
        (&capture["content_format"], &capture["content_digest"]),
        (&json!("markdown"), &body["doc"]["content_digest"])
    );
    assert_eq!(body["usage"]["bytes_returned"], answer.bytes.len());

    let body = read(&api, json!({"doc_id": doc_id, "content": {"range": {"start_char": 70}}})).await.json();
    assert_eq!(body["content"]["start_char"], 70);
    assert!(body["passages"][1].get("char_start").is_none());
}

#[actix_web::test]
async fn warnings_carry_their_details() {
    let (api, site) = (Api::new().await, Site::start());
    let warnings = async |body: Value| {
        let body = read(&api, body).await.json();
        let warnings = body["warnings"].as_array().unwrap().iter();
        warnings.map(|warning| (warning["code"].clone(), warning["details"].clone())).collect::<Vec<_>>()
    };
    let unreadable = warnings(json!({"canonical_url": site.url("/missing")})).await;
    assert_eq!(unreadable, [(json!("content_unavailable"), json!({"reason": "http_status", "status": 404}))]);
    let unreachable = warnings(json!({"canonical_url": "http://10.0.0.1/"})).await;
    assert_eq!(unreachable, [(json!("content_unavailable"), json!({"reason": "unreachable"}))]);

    let expired = site.url("/gone");
    api.world.import_one(page(&expired, "A text of old.")).await;
    let before = read(&api, json!({"canonical_url": expired})).await.json();
    api.world.clock.advance(Duration::from_hours(25));
    let stale = warnings(json!({"canonical_url": expired})).await;
    let capture_time = &before["provenance"]["capture_time"];
    let details = json!({"capture_time": capture_time, "reason": "http_status", "status": 404});
    assert_eq!(stale, [(json!("stale_content"), details)]);

    let url = "https://example.com/long";
    api.world.import_one(page(url, "A text of some length.")).await;
    let truncated = warnings(json!({"canonical_url": url, "content": {"max_chars": 9}})).await;
    let details = json!({"field": "content.max_chars", "max_chars": 9});
    assert_eq!(truncated, [(json!("content_truncated"), details)]);

    let requested = Uuid::from_u128(1);
    let latest = read(&api, json!({"canonical_url": url})).await.json()["doc"]["latest_capture_id"].clone();
    let range = json!({"start_char": 2, "max_chars": 3, "capture_id": requested});
    let stale = warnings(json!({"canonical_url": url, "content": {"range": range}})).await;
    let details = json!({"requested_capture_id": requested, "latest_capture_id": latest});
    let cut = json!({"field": "content.range.max_chars", "max_chars": 3});
    assert_eq!(stale, [(json!("stale_range"), details), (json!("content_truncated"), cut)]);

    let content = json!({"selection": "query_relevant"});
    let unmatched = warnings(json!({"canonical_url": url, "query": "submarine", "content": content})).await;
    assert_eq!(unmatched, [(json!("no_match"), Value::Null)]);

    let content = json!({"selection": "passage_ids", "passage_ids": ["x"]});
    let stale = warnings(json!({"canonical_url": url, "content": content})).await;
    assert_eq!(stale, [(json!("stale_passage_id"), json!({"passage_ids": ["x"]}))]);
}
