//! Paged reads of documents.

use retrieval_client::types::DocumentRequest;
use retrieval_client::{Client, Error};
use serde_json::{Value, json};

use crate::mock_server::{MockServer, Reply, Request};
use crate::samples::{CAPTURE, DOCUMENT, REQUEST, SESSION, access, client};

const OTHER_CAPTURE: &str = "5b0f3a52-2a0c-4ad1-9b1b-9cf8a4c4a009";

/// Returns the requested page, truncated as by the service.
fn page(request: &Request, text: &str, capture: &str) -> Value {
    let range = &request.json()["content"]["range"];
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

fn document_request() -> DocumentRequest {
    DocumentRequest { canonical_url: Some("https://a.example/".to_owned()), ..Default::default() }
}

async fn text(client: &Client, step: i64) -> Option<String> {
    client.read_whole(&document_request(), step).await.unwrap().text
}

#[tokio::test]
async fn pages_add_up_to_the_document_for_any_size() {
    let whole = "Ebbe und Flut: 潮の満ち引き 🌊 and so on.";
    let server = MockServer::start(move |request, _| Reply::json(200, &page(request, whole, CAPTURE)));
    let client = client(&server);
    for step in [1, 2, 7, 29, 1000] {
        assert_eq!(text(&client, step).await.as_deref(), Some(whole), "{step}");
    }
}

#[tokio::test]
async fn later_pages_are_pinned_to_the_first_capture() {
    let server = MockServer::start(|request, _| Reply::json(200, &page(request, "abcdef", CAPTURE)));
    text(&client(&server), 4).await.unwrap();
    let requests = server.requests();
    assert_eq!(requests[0].json()["canonical_url"], "https://a.example/");
    let range = json!({ "start_char": 4, "max_chars": 4, "capture_id": CAPTURE });
    assert_eq!(
        requests[1].json(),
        json!({ "doc_id": DOCUMENT, "include": ["content"], "content": { "range": range }, "cache_only": true })
    );
    assert_eq!(requests.len(), 2);
}

#[tokio::test]
async fn only_the_first_page_may_be_fetched() {
    let server = MockServer::start(|request, _| Reply::json(200, &page(request, "abcdef", CAPTURE)));
    let now = DocumentRequest { max_age_seconds: Some(0), ..document_request() };
    assert_eq!(client(&server).read_whole(&now, 2).await.unwrap().text.as_deref(), Some("abcdef"));
    let freshness = |request: &Request| {
        let body = request.json();
        (body["max_age_seconds"].as_i64(), body["cache_only"].as_bool())
    };
    let sent: Vec<_> = server.requests().iter().map(freshness).collect();
    assert_eq!(sent, [(Some(0), None), (None, Some(true)), (None, Some(true))]);
}

#[tokio::test]
async fn changed_document_is_read_again() {
    let server = MockServer::start(|request, earlier| match earlier {
        0 => Reply::json(200, &page(request, "the old text", CAPTURE)),
        _ => Reply::json(200, &page(request, "the new words", OTHER_CAPTURE)),
    });
    assert_eq!(text(&client(&server), 5).await.as_deref(), Some("the new words"));
}

#[tokio::test]
async fn constantly_changing_document_is_an_error() {
    let server = MockServer::start(|request, _| {
        let stale = request.json()["content"]["range"]["start_char"] != 0;
        let mut body = page(request, "the text", CAPTURE);
        if stale {
            body["warnings"] = json!([{ "code": "stale_range", "message": "it is not the latest" }]);
        }
        Reply::json(200, &body)
    });
    let error = client(&server).read_whole(&document_request(), 5).await.unwrap_err();
    assert!(matches!(error, Error::StaleCapture { .. }), "{error:?}");
    assert_eq!(server.requests().len(), 6);
}

#[tokio::test]
async fn unavailable_content_differs_from_empty_content() {
    let server = MockServer::start(|request, _| {
        let mut body = page(request, "", CAPTURE);
        if request.json()["canonical_url"] == "https://a.example/" {
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
async fn gaps_between_pages_are_errors() {
    let server = MockServer::start(|request, _| {
        let mut body = page(request, "the text", CAPTURE);
        body["content"]["start_char"] = json!(3);
        Reply::json(200, &body)
    });
    let error = client(&server).read_whole(&document_request(), 5).await.unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }), "{error:?}");
}
