use app::documents::{
    CaptureView, ContentFormat, ContentView, Include, PassageView, Range, ReadOutcome, ReadRequest, ReadWarning,
    Selection, Target,
};
use model::{CaptureId, DocId, PassageId};
use serde_json::{Value, json};
use time::macros::datetime;
use uuid::Uuid;

use crate::api::{Api, PUBLIC_URL};
use crate::fake::read_outcome;

const ID: &str = "0190a6d2-6a5c-7cc0-8c5e-0f4c5a1b2c3d";

async fn asked(api: &Api, body: Value) -> ReadRequest {
    let answer = api.post("/v1/document", &body).await;
    assert_eq!(answer.status, 200, "{body}: {}", answer.json());
    api.service.reads.lock().unwrap().pop().unwrap()
}

#[actix_web::test]
async fn a_bare_read_has_the_documented_defaults() {
    let request = asked(&Api::new(), json!({"canonical_url": "https://example.com/"})).await;
    assert_eq!(request.target, Target::Url("https://example.com/".to_owned()));
    assert_eq!(request.include, Include::ALL);
    assert_eq!((request.selection, request.format), (Selection::FullDocument, ContentFormat::Markdown));
    assert_eq!((request.max_chars, request.include_offsets, request.range), (None, false, None));
}

#[actix_web::test]
async fn every_field_reaches_the_use_case() {
    let request = asked(
        &Api::new(),
        json!({
            "doc_id": ID,
            "canonical_url": "not even a url",
            "include": ["passages", "content"],
            "query": "q",
            "content": {
                "selection": "passage_ids", "format": "text", "max_chars": 5, "include_offsets": true,
                "passage_ids": ["not a uuid"],
                "range": {"start_char": 4611686018427387904_i64, "max_chars": 7, "capture_id": ID},
            },
            "debug": {"anything": [1, {"at": "all"}]},
        }),
    )
    .await;
    let id = Uuid::parse_str(ID).unwrap();
    assert_eq!(request.target, Target::DocId(DocId(id)), "doc_id wins");
    assert_eq!(request.include, Include { metadata: false, passages: true, capture_history: false, content: true });
    assert_eq!((request.selection, request.format), (Selection::PassageIds, ContentFormat::Text));
    assert_eq!((request.max_chars, request.include_offsets), (Some(5), true));
    assert_eq!(request.passage_ids, ["not a uuid"], "unavailable ids never fail the request");
    assert_eq!(request.range, Some(Range { start_char: 1 << 62, max_chars: Some(7), capture_id: Some(CaptureId(id)) }));
    assert_eq!(request.query.as_deref(), Some("q"));
}

#[actix_web::test]
async fn metadata_alone_asks_for_nothing_else() {
    let request = asked(&Api::new(), json!({"doc_id": ID, "include": ["metadata"]})).await;
    assert!(request.include.metadata_only());
}

#[actix_web::test]
async fn what_is_absent_is_left_out() {
    let api = Api::new();
    let answer = api.post("/v1/document", &json!({"doc_id": ID})).await;
    let body = answer.json();
    let keys: Vec<_> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["$schema", "access", "doc", "request_id", "session_id", "usage"]);
    assert_eq!(body["$schema"], format!("{PUBLIC_URL}/schemas/DocumentResponse.json"));
    let keys: Vec<_> = body["doc"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["canonical_url", "doc_id", "first_seen_at", "last_seen_at", "source_url", "title"]);
    assert_eq!(body["doc"]["first_seen_at"], "2026-01-01T00:00:00Z");
    assert_eq!(body["usage"], json!({"requests": 1, "bytes_returned": answer.bytes.len()}));
}

fn capture() -> CaptureView {
    CaptureView {
        capture_id: CaptureId(Uuid::from_u128(5)),
        capture_time: datetime!(2026-01-03 00:00:00.5 UTC),
        content_digest: "sha256:1".to_owned(),
        format: ContentFormat::Markdown,
    }
}

fn whole() -> ReadOutcome {
    let passage = |chars| PassageView {
        passage_id: PassageId(Uuid::from_u128(6)),
        doc_id: DocId(Uuid::from_u128(1001)),
        ordinal: 3,
        text: "naïve 🦀".to_owned(),
        chars,
        section_heading: None,
        section_path: vec!["A".to_owned()],
    };
    ReadOutcome {
        content: Some(ContentView {
            selection: Selection::QueryRelevant,
            format: ContentFormat::Text,
            text: "naïve 🦀".to_owned(),
            truncated: true,
            char_count: 7,
            start_char: 0,
        }),
        passages: Some(vec![passage(Some((10, 17))), passage(None)]),
        capture_history: Some(vec![capture()]),
        capture: Some(capture()),
        ..read_outcome()
    }
}

#[actix_web::test]
async fn every_section_is_written() {
    let api = Api::new();
    api.service.on_read(|| Ok(whole()));
    let answer = api.post("/v1/document", &json!({"doc_id": ID})).await;
    let body = answer.json();
    let content = json!({"selection": "query_relevant", "format": "text", "text": "naïve 🦀", "truncated": true, "char_count": 7});
    assert_eq!(body["content"], content, "start_char 0 is left out");
    assert_eq!((&body["passages"][0]["char_start"], &body["passages"][0]["char_end"]), (&json!(10), &json!(17)));
    assert!(body["passages"][1].get("char_start").is_none());
    assert_eq!(body["provenance"], json!({"capture_id": Uuid::from_u128(5), "capture_time": "2026-01-03T00:00:00.5Z"}));
    assert_eq!(body["capture_history"][0]["content_format"], "markdown");
    assert_eq!(body["usage"]["bytes_returned"], answer.bytes.len());

    api.service.on_read(|| {
        let mut outcome = whole();
        if let Some(content) = &mut outcome.content {
            content.start_char = 700;
        }
        Ok(outcome)
    });
    let body = api.post("/v1/document", &json!({"doc_id": ID})).await.json();
    assert_eq!(body["content"]["start_char"], 700);
}

#[actix_web::test]
async fn warnings_carry_their_details() {
    let api = Api::new();
    api.service.on_read(|| {
        Ok(ReadOutcome {
            warnings: vec![
                ReadWarning::ContentUnavailable,
                ReadWarning::ContentTruncated { field: "content.max_chars", max_chars: 9 },
                ReadWarning::StaleRange {
                    requested: CaptureId(Uuid::from_u128(1)),
                    latest: CaptureId(Uuid::from_u128(2)),
                },
                ReadWarning::StalePassageIds { passage_ids: vec!["x".to_owned()] },
            ],
            ..read_outcome()
        })
    });
    let body = api.post("/v1/document", &json!({"doc_id": ID})).await.json();
    let warnings = body["warnings"].as_array().unwrap();
    let expected = [
        ("content_unavailable", Value::Null),
        ("content_truncated", json!({"field": "content.max_chars", "max_chars": 9})),
        ("stale_range", json!({"requested_capture_id": Uuid::from_u128(1), "latest_capture_id": Uuid::from_u128(2)})),
        ("stale_passage_id", json!({"passage_ids": ["x"]})),
    ];
    assert_eq!(warnings.len(), expected.len());
    for (warning, (code, details)) in warnings.iter().zip(expected) {
        assert_eq!((&warning["code"], &warning["details"]), (&json!(code), &details));
    }
}
