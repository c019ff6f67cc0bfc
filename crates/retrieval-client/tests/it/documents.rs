//! Documents in pages.

use retrieval_client::types::DocumentRequest;
use retrieval_client::{Client, Error};
use serde_json::{Value, json};

use crate::samples::{CAPTURE, DOCUMENT, REQUEST, SESSION, access, client};
use crate::stand_in::{Asked, Reply, StandIn};

const OTHER_CAPTURE: &str = "5b0f3a52-2a0c-4ad1-9b1b-9cf8a4c4a009";

/// A page as the service cuts it.
fn page(asked: &Asked, text: &str, capture: &str) -> Value {
    let range = &asked.json()["content"]["range"];
    let start = range["start_char"].as_u64().unwrap();
    let most = range["max_chars"].as_u64().unwrap();
    let rest: Vec<char> = text.chars().skip(usize::try_from(start).unwrap()).collect();
    let part: String = rest.iter().take(usize::try_from(most).unwrap()).collect();
    let count = part.chars().count();
    let mut body = json!({
        "request_id": REQUEST, "session_id": SESSION, "access": access(),
        "doc": { "doc_id": DOCUMENT, "canonical_url": "https://a.example/", "source_url": "https://a.example/",
            "first_seen_at": "2026-01-05T10:00:00Z", "last_seen_at": "2026-01-05T10:00:00Z" },
        "content": { "selection": "full_document", "format": "markdown", "text": part, "truncated": count < rest.len(),
            "char_count": count },
        "provenance": { "capture_id": capture, "capture_time": "2026-01-05T10:00:00Z" },
    });
    if start > 0 {
        body["content"]["start_char"] = json!(start);
    }
    body
}

fn wanted() -> DocumentRequest {
    DocumentRequest { canonical_url: Some("https://a.example/".to_owned()), ..Default::default() }
}

async fn text(client: &Client, step: i64) -> Option<String> {
    client.read_whole(&wanted(), step).await.unwrap().text
}

#[tokio::test]
async fn pages_together_are_the_document_whatever_the_step() {
    let whole = "Ebbe und Flut: 潮の満ち引き 🌊 and so on.";
    let server = StandIn::start(move |asked, _| Reply::json(200, &page(asked, whole, CAPTURE)));
    let client = client(&server);
    for step in [1, 2, 7, 29, 1000] {
        assert_eq!(text(&client, step).await.as_deref(), Some(whole), "{step}");
    }
}

#[tokio::test]
async fn later_pages_are_pinned_to_the_first_and_ask_for_nothing_else() {
    let server = StandIn::start(|asked, _| Reply::json(200, &page(asked, "abcdef", CAPTURE)));
    text(&client(&server), 4).await.unwrap();
    let asked = server.asked();
    assert_eq!(asked[0].json()["canonical_url"], "https://a.example/");
    let range = json!({ "start_char": 4, "max_chars": 4, "capture_id": CAPTURE });
    assert_eq!(asked[1].json(), json!({ "doc_id": DOCUMENT, "include": ["content"], "content": { "range": range } }));
    assert_eq!(asked.len(), 2);
}

#[tokio::test]
async fn a_document_that_changes_meanwhile_is_begun_again() {
    let server = StandIn::start(|asked, before| match before {
        0 => Reply::json(200, &page(asked, "the old text", CAPTURE)),
        _ => Reply::json(200, &page(asked, "the new words", OTHER_CAPTURE)),
    });
    assert_eq!(text(&client(&server), 5).await.as_deref(), Some("the new words"));
}

#[tokio::test]
async fn a_document_that_never_rests_is_an_error() {
    let server = StandIn::start(|asked, _| {
        let stale = asked.json()["content"]["range"]["start_char"] != 0;
        let mut body = page(asked, "the text", CAPTURE);
        if stale {
            body["warnings"] = json!([{ "code": "stale_range", "message": "it is not the latest" }]);
        }
        Reply::json(200, &body)
    });
    let error = client(&server).read_whole(&wanted(), 5).await.unwrap_err();
    assert!(matches!(error, Error::StaleCapture { .. }), "{error:?}");
    assert_eq!(server.asked().len(), 6);
}

#[tokio::test]
async fn content_that_is_unavailable_is_told_apart_from_empty_content() {
    let server = StandIn::start(|asked, _| {
        let mut body = page(asked, "", CAPTURE);
        if asked.json()["canonical_url"] == "https://a.example/" {
            body["content"] = Value::Null;
        }
        Reply::json(200, &body)
    });
    let client = client(&server);
    assert_eq!(text(&client, 5).await, None);
    let empty = DocumentRequest { doc_id: Some(DOCUMENT.to_owned()), ..Default::default() };
    assert_eq!(client.read_whole(&empty, 5).await.unwrap().text.as_deref(), Some(""));
}

#[tokio::test]
async fn pages_that_do_not_follow_are_refused() {
    let server = StandIn::start(|asked, _| {
        let mut body = page(asked, "the text", CAPTURE);
        body["content"]["start_char"] = json!(3);
        Reply::json(200, &body)
    });
    let error = client(&server).read_whole(&wanted(), 5).await.unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }), "{error:?}");
}
