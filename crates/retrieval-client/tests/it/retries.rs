//! Retries and timeouts.

use std::time::Duration;

use retrieval_client::types::{
    EventType, FeedbackRequest, IndexMode, KeyCreateRequest, ResearchRequest, SearchRequest,
};
use retrieval_client::{Client, Error, NoResponse};
use serde_json::json;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::mock_server::{MockServer, Reply};
use crate::samples::{self, KEY, client};

#[tokio::test]
async fn transient_failures_are_retried() {
    let server = MockServer::start(|_, earlier| match earlier {
        0 => Reply::error(502, "provider_unavailable"),
        1 => Reply::Full(503, String::new(), b"<html>a proxy's page</html>".to_vec()),
        _ => Reply::json(200, &samples::search()),
    });
    client(&server).search(&SearchRequest::new("tides")).await.unwrap();
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    assert!(requests[1].at - requests[0].at >= Duration::from_millis(250));
    assert!(requests[2].at - requests[1].at >= Duration::from_millis(500));
}

#[tokio::test]
async fn retries_end_after_three() {
    let server = MockServer::start(|_, _| Reply::error(500, "internal_error"));
    let error = client(&server).list_files().await.unwrap_err();
    assert_eq!((error.api().unwrap().status, error.is_transient()), (500, true));
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn client_errors_are_not_retried() {
    for (status, code) in
        [(400, "validation_error"), (401, "invalid_api_key"), (404, "not_found"), (413, "file_too_large")]
    {
        let server = MockServer::start(move |_, _| Reply::error(status, code));
        let error = client(&server).list_files().await.unwrap_err();
        let api = error.api().unwrap();
        assert_eq!((api.status, api.code.as_str(), api.details["field"].as_str()), (status, code, Some("query")));
        assert_eq!(api.request_id, samples::REQUEST);
        assert!(!error.is_transient());
        assert_eq!(server.requests().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn rate_limited_request_waits_for_the_reset() {
    let server = MockServer::start(|_, earlier| {
        if earlier > 0 {
            return Reply::json(200, &samples::files());
        }
        let reset = OffsetDateTime::now_utc() + Duration::from_millis(700);
        let headers = format!(
            "X-RateLimit-Limit-RPS: 5\r\nX-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: {}\r\n",
            reset.format(&Rfc3339).unwrap()
        );
        let Reply::Full(status, _, body) = Reply::error(429, "rate_limited") else { unreachable!() };
        Reply::Full(status, headers, body)
    });
    client(&server).list_files().await.unwrap();
    let requests = server.requests();
    let waited = requests[1].at - requests[0].at;
    assert!((650..2000).contains(&waited.as_millis()), "{waited:?}");
}

#[tokio::test]
async fn rate_limited_request_waits_as_long_as_its_details_say() {
    let server = MockServer::start(|_, earlier| {
        if earlier > 0 {
            return Reply::json(200, &samples::files());
        }
        let details = json!({"limit": "rejected_credentials", "retry_after_seconds": 2});
        let error = json!({"code": "rate_limited", "message": "wait", "details": details});
        Reply::json(429, &json!({"type": "error", "request_id": samples::REQUEST, "error": error}))
    });
    client(&server).list_files().await.unwrap();
    let requests = server.requests();
    let waited = requests[1].at - requests[0].at;
    assert!((2_000..4_000).contains(&waited.as_millis()), "{waited:?}");
}

#[tokio::test]
async fn broken_connections_are_retried_for_safe_operations_only() {
    let server =
        MockServer::start(|_, earlier| if earlier == 0 { Reply::Close } else { Reply::json(200, &samples::files()) });
    client(&server).list_files().await.unwrap();
    assert_eq!(server.requests().len(), 2);

    let server =
        MockServer::start(|_, earlier| if earlier == 0 { Reply::Cut } else { Reply::json(200, &samples::files()) });
    client(&server).list_files().await.unwrap();
    assert_eq!(server.requests().len(), 2);

    let server = MockServer::start(|_, _| Reply::Close);
    let client = client(&server);
    let errors = [
        client.search(&SearchRequest::new("tides")).await.unwrap_err(),
        client.submit_feedback(&FeedbackRequest::new(EventType::PassageUsed)).await.unwrap_err(),
        client.start_run(IndexMode::Full).await.unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, Error::Transport { .. }), "{error:?}");
    }
    assert_eq!(server.requests().len(), 3);
}

/// The service may have executed a request whose answer a proxy lost.
#[tokio::test]
async fn failures_of_proxies_are_retried_for_safe_operations_only() {
    let research: ResearchRequest = serde_json::from_value(json!({"query": "tides"})).unwrap();
    for status in [500, 502, 504, 599] {
        let page = move || Reply::Full(status, String::new(), b"<html>a proxy's page</html>".to_vec());
        let server = MockServer::start(move |_, earlier| match earlier {
            0 => page(),
            _ => Reply::json(200, &samples::files()),
        });
        client(&server).list_files().await.unwrap();
        assert_eq!(server.requests().len(), 2, "{status}");

        let server = MockServer::start(move |_, _| page());
        let client = client(&server);
        let errors = [
            client.create_key(&KeyCreateRequest::default()).await.unwrap_err(),
            client.create_research(&research).await.unwrap_err(),
            client.submit_feedback(&FeedbackRequest::new(EventType::PassageUsed)).await.unwrap_err(),
        ];
        assert!(errors.iter().all(|error| matches!(error, Error::Status { .. })), "{errors:?}");
        assert_eq!(server.requests().len(), 3, "{status}");
    }
}

#[tokio::test]
async fn connection_failure_is_a_transport_error_without_the_key() {
    let client = Client::builder().base_url("http://127.0.0.1:1").api_key(KEY).no_proxy().build().unwrap();
    let error = client.search(&SearchRequest::new("tides")).await.unwrap_err();
    assert!(matches!(error, Error::Transport { reason: NoResponse::Refused, .. }) && error.is_transient());
    assert!(!format!("{error:?} {error} {client:?}").contains(KEY));
}

#[tokio::test]
async fn timeout_is_not_retried() {
    let server = MockServer::start(|_, _| Reply::Silence(Duration::from_secs(5)));
    let builder = Client::builder().base_url(server.address()).api_key(KEY).no_proxy();
    let client = builder.timeout(Duration::from_millis(300)).build().unwrap();
    let started = std::time::Instant::now();
    let error = client.list_files().await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
    assert!(started.elapsed() < Duration::from_secs(2));
    assert_eq!(server.requests().len(), 1);
}
