use serde_json::json;

use crate::api::Api;
use crate::corpus::QUERY;

#[actix_web::test]
async fn an_event_is_stored_with_all_its_fields() {
    let api = Api::new().await.with_pages(1).await;
    let found = api.search(json!({"query": QUERY})).await.json();
    let hit = &found["results"][0];
    let (search_id, doc_id, passage_id) = (&found["search_id"], &hit["doc_id"], &hit["passages"][0]["passage_id"]);
    let session_id = "0190a6d2-6a5c-7cc0-8c5e-0f4c5a1b2c3d";
    let answer = api
        .post(
            "/v1/feedback",
            &json!({
                "event_type": "passage_used", "search_id": search_id, "doc_id": doc_id, "passage_id": passage_id,
                "session_id": session_id, "comment": "c", "query": "q", "rank": 3,
                "agent_context": {"client_model": "m"},
            }),
        )
        .await;
    let body = answer.json();
    let keys: Vec<_> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["$schema", "accepted", "access", "feedback_id", "request_id", "session_id", "usage"]);
    assert_eq!(body["accepted"], true);
    assert_eq!(body["usage"]["bytes_returned"], answer.bytes.len());

    let stored = api.world.recorded_feedback().await;
    let [stored] = &stored[..] else { panic!("{stored:?}") };
    let event = &stored.event;
    assert_eq!(body["feedback_id"], event.feedback_id.to_string());
    assert_eq!(*search_id, event.search_id.unwrap().to_string());
    assert_eq!(*doc_id, event.doc_id.unwrap().to_string());
    assert_eq!(*passage_id, event.passage_id.unwrap().to_string());
    assert_eq!(event.session_id.to_string(), session_id);
    assert_eq!((event.event_type.as_str(), event.result_rank), ("passage_used", Some(3)));
    assert_eq!((event.comment.as_deref(), event.query.as_deref()), (Some("c"), Some("q")));
    assert_eq!(event.client_model.as_deref(), Some("m"));
}

#[actix_web::test]
async fn only_the_event_type_is_required() {
    let api = Api::new().await;
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
