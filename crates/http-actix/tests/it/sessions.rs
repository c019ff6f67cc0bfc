use actix_web::test::TestRequest;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::api::{Answer, Api};

const BODY: &str = "0190a6d2-6a5c-7cc0-8c5e-0f4c5a1b2c3d";
const HEADER: &str = "AAAAAAAA-6a5c-4cc0-8c5e-0f4c5a1b2c3d";

async fn ask(api: &Api, path: &str, mut body: Value, in_body: Option<&str>, in_header: Option<&str>) -> Answer {
    if let Some(session) = in_body {
        body["session_id"] = json!(session);
    }
    let mut request = api.authorized(TestRequest::post().uri(path)).set_payload(body.to_string());
    if let Some(session) = in_header {
        request = request.insert_header(("X-Session-ID", session));
    }
    api.send(request).await
}

#[actix_web::test]
async fn the_body_wins_over_the_header_and_both_over_a_fresh_one() {
    let api = Api::new().await;
    for (path, body) in [("/v1/search", json!({"query": "x"})), ("/v1/feedback", json!({"event_type": "stale_result"}))]
    {
        let session = async |in_body, in_header| {
            ask(&api, path, body.clone(), in_body, in_header).await.json()["session_id"].as_str().unwrap().to_owned()
        };
        assert_eq!(session(Some(BODY), Some(HEADER)).await, BODY);
        assert_eq!(session(Some(BODY), None).await, BODY);
        assert_eq!(session(None, Some(HEADER)).await, HEADER, "echoed as it was sent");
        let fresh = session(None, None).await;
        Uuid::parse_str(&fresh).unwrap();
        assert_ne!(fresh, session(None, None).await);
    }
    let stored = api.world.recorded_feedback().await;
    let sessions: Vec<String> = stored.into_iter().map(|stored| stored.event.session_id.to_string()).collect();
    assert_eq!(sessions[..3], [BODY, BODY, &HEADER.to_lowercase()]);
}

#[actix_web::test]
async fn both_session_ids_are_validated() {
    let api = Api::new().await;
    for (in_body, in_header, message, field) in [
        (Some("abc"), None, "session_id must be a UUID", "session_id"),
        (Some("abc"), Some(HEADER), "session_id must be a UUID", "session_id"),
        (None, Some("abc"), "X-Session-ID must be a UUID", "X-Session-ID"),
        (Some(BODY), Some("abc"), "X-Session-ID must be a UUID", "X-Session-ID"),
        (Some(BODY), Some("é"), "X-Session-ID must be a UUID", "X-Session-ID"),
        (Some(""), None, "session_id must be a UUID", "session_id"),
        (None, Some(""), "X-Session-ID must be a UUID", "X-Session-ID"),
        (None, Some(" "), "X-Session-ID must be a UUID", "X-Session-ID"),
        (Some(BODY), Some(""), "X-Session-ID must be a UUID", "X-Session-ID"),
    ] {
        let answer = ask(&api, "/v1/search", json!({"query": "x"}), in_body, in_header).await;
        answer.expect_invalid(field);
        assert_eq!(answer.json()["error"]["message"], message);
    }
}

#[actix_web::test]
async fn a_session_id_of_another_type_is_no_uuid() {
    let api = Api::new().await;
    for (path, body) in [
        ("/v1/search", json!({"query": "x"})),
        ("/v1/feedback", json!({"event_type": "stale_result"})),
        ("/v1/research", json!({"query": "x"})),
    ] {
        for session in [json!(123), json!(-1.5), json!(true), json!(null), json!({"a": [1]}), json!([]), json!([BODY])]
        {
            let mut body = body.clone();
            body["session_id"] = session;
            let answer = ask(&api, path, body.clone(), None, Some(HEADER)).await;
            answer.expect_invalid("session_id");
            assert_eq!(answer.json()["error"]["message"], "session_id must be a UUID", "{path} {body}");
        }
    }
    // Where the field does not exist, or is repeated, its value does not matter.
    let twice = format!(r#"{{"query": "x", "session_id": "{BODY}", "session_id": 123}}"#);
    for (path, body, fault) in [
        ("/v1/document", r#"{"doc_id": "x", "session_id": 123}"#, "unknown field `session_id`"),
        ("/v1/search", r#"{"query": "x", "filters": {"session_id": 123}}"#, "unknown field `session_id`"),
        ("/v1/search", twice.as_str(), "duplicate field `session_id`"),
    ] {
        let answer = api.post_raw(path, body).await;
        answer.expect_error(400, "validation_error");
        let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(fault), "{message}");
    }
}

#[actix_web::test]
async fn every_endpoint_checks_the_header() {
    let api = Api::new().await;
    for (method, path) in [("POST", "/v1/document"), ("GET", "/v1/files"), ("DELETE", "/v1/files/a.txt")] {
        let request = TestRequest::with_uri(path).method(method.parse().unwrap());
        api.send(api.authorized(request).insert_header(("X-Session-ID", "abc"))).await.expect_invalid("X-Session-ID");
    }
    let body = json!({"canonical_url": "https://example.com/", "include": ["metadata"]});
    let read = ask(&api, "/v1/document", body, None, Some(HEADER)).await;
    assert_eq!(read.json()["session_id"], HEADER);
}
