use model::FeedbackEvent;
use serde_json::json;
use uuid::Uuid;

use crate::api::Api;
use crate::fake::FEEDBACK_ID;

#[actix_web::test]
async fn an_event_is_accepted_with_all_its_fields() {
    let api = Api::new();
    let id = "0190a6d2-6a5c-7cc0-8c5e-0f4c5a1b2c3d";
    let answer = api
        .post(
            "/v1/feedback",
            &json!({
                "event_type": "passage_used", "search_id": id, "doc_id": id, "passage_id": id, "session_id": id,
                "comment": "c", "query": "q", "rank": 3, "agent_context": {"client_model": "m"},
            }),
        )
        .await;
    let body = answer.json();
    let keys: Vec<_> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["$schema", "accepted", "access", "feedback_id", "request_id", "session_id", "usage"]);
    assert_eq!((&body["accepted"], &body["feedback_id"]), (&json!(true), &json!(FEEDBACK_ID.0)));
    assert_eq!(body["usage"]["bytes_returned"], answer.bytes.len());

    let stored = api.service.feedback.lock().unwrap().pop().unwrap();
    let id = Uuid::parse_str(id).unwrap();
    let expected = (Some(id.into()), Some(id.into()), Some(id.into()));
    assert_eq!((stored.search_id, stored.doc_id, stored.passage_id), expected);
    assert_eq!((stored.event, stored.rank), (FeedbackEvent::PassageUsed, Some(3)));
    assert_eq!((stored.comment.as_deref(), stored.query.as_deref()), (Some("c"), Some("q")));
    assert_eq!(stored.client_model.as_deref(), Some("m"));
}

#[actix_web::test]
async fn only_the_event_type_is_required() {
    let api = Api::new();
    for event in [
        "result_helpful",
        "result_not_helpful",
        "passage_used",
        "read_abandoned",
        "duplicate_result",
        "stale_result",
        "spam_or_low_quality",
        "missing_expected_source",
        "unsafe_or_policy_issue",
    ] {
        assert_eq!(api.post("/v1/feedback", &json!({"event_type": event})).await.status, 200, "{event}");
    }
}
