//! Contents of requests and parsing of responses.

use retrieval_client::types::{DocumentRequest, EventType, FeedbackRequest, SearchRequest};
use retrieval_client::{Error, PageQuery, UsageQuery};
use serde_json::json;

use crate::mock_server::{MockServer, Reply};
use crate::samples::{self, KEY, SESSION, client};

#[tokio::test]
async fn requests_omit_unset_fields() {
    let server = MockServer::start(|request, _| match request.line.as_str() {
        "POST /v1/search" => Reply::json(200, &samples::search()),
        _ => Reply::error(404, "document_not_found"),
    });
    let client = client(&server).with_session(SESSION).unwrap();
    client.search(&SearchRequest::new("tides")).await.unwrap();
    let document = DocumentRequest { canonical_url: Some("https://a.example/".to_owned()), ..Default::default() };
    client.read_document(&document).await.unwrap_err();
    client.submit_feedback(&FeedbackRequest::new(EventType::StaleResult)).await.unwrap_err();

    let requests = server.requests();
    assert_eq!(requests[0].json(), json!({ "query": "tides" }));
    assert_eq!(requests[1].json(), json!({ "canonical_url": "https://a.example/" }));
    assert_eq!(requests[2].json(), json!({ "event_type": "stale_result" }));
    for request in requests {
        assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
        assert_eq!(request.header("x-session-id"), Some(SESSION));
        assert_eq!(request.header("content-type"), Some("application/json"));
        assert!(request.header("x-service-client").unwrap().starts_with("retrieval-client/"));
    }
}

#[tokio::test]
async fn answer_keeps_raw_json_and_rate_limit() {
    let server = MockServer::start(|_, _| {
        let headers =
            "X-RateLimit-Limit-RPS: 100\r\nX-RateLimit-Remaining: 98\r\nX-RateLimit-Reset: 2026-01-05T10:00:01Z\r\n";
        Reply::Full(200, headers.to_owned(), samples::search().to_string().into_bytes())
    });
    let answer = client(&server).search(&SearchRequest::new("tides")).await.unwrap();
    assert_eq!(answer.session_id, SESSION);
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&answer.raw).unwrap(), samples::search());
    assert_eq!(answer.rate_limit.unwrap().remaining, 98);
}

#[tokio::test]
async fn malformed_responses_are_errors() {
    for body in ["", "{", "[]", "null", "{\"request_id\": 5}", "\u{0}\u{1}"] {
        let server = MockServer::start(move |_, _| Reply::Full(200, String::new(), body.as_bytes().to_vec()));
        let error = client(&server).list_files().await.unwrap_err();
        assert!(matches!(error, Error::Malformed { status: 200, .. }), "{body}: {error:?}");
    }
}

#[tokio::test]
async fn endless_response_is_refused() {
    let server = MockServer::start(|_, _| Reply::Endless);
    let error = client(&server).me().await.unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error:?}");
}

/// The list of all files grows with the organization, so it may be longer than other responses.
#[tokio::test]
async fn long_list_of_files_is_read_whole() {
    let server = MockServer::start(|_, _| {
        let mut body = samples::files().to_string().into_bytes();
        body.resize(65 << 20, b' ');
        Reply::Full(200, String::new(), body)
    });
    let client = client(&server);
    assert_eq!(client.list_files().await.unwrap().files.len(), 1);
    let page = PageQuery { cursor: None, limit: Some("1000".to_owned()) };
    let error = client.list_files_page(&page).await.unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error:?}");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let redirect_target = MockServer::start(|_, _| Reply::json(200, &samples::files()));
    let location = format!("Location: {}/v1/files\r\n", redirect_target.address());
    let server = MockServer::start(move |_, _| Reply::Full(307, location.clone(), Vec::new()));
    let error = client(&server).list_files().await.unwrap_err();
    assert!(matches!(error, Error::Status { status: 307, redirect: Some(_), .. }), "{error:?}");
    assert!(redirect_target.requests().is_empty());
}

#[tokio::test]
async fn path_and_query_parameters_are_encoded() {
    let server = MockServer::start(|_, _| Reply::error(404, "not_found"));
    let client = client(&server);
    client.delete_file("a b/ü?.txt").await.unwrap_err();
    client.run_status("x#y").await.unwrap_err();
    let query = UsageQuery {
        from: Some("2026-01-05T00:00:00+01:00".to_owned()),
        api_key_ids: vec!["a".to_owned(), "b".to_owned()],
        ..UsageQuery::default()
    };
    client.usage(&query).await.unwrap_err();
    for dangerous in ["", ".", ".."] {
        assert!(matches!(client.delete_file(dangerous).await, Err(Error::Setting(_))));
    }
    let lines: Vec<_> = server.requests().into_iter().map(|request| request.line).collect();
    let expected = [
        "DELETE /v1/files/a%20b%2F%C3%BC%3F%2Etxt",
        "GET /v1/files/index/x%23y",
        "GET /v1/usage?from=2026-01-05T00%3A00%3A00%2B01%3A00&api_key_ids=a%2Cb",
    ];
    assert_eq!(lines, expected);
}
