use actix_web::test::TestRequest;
use serde_json::json;

use crate::api::Api;
use crate::fake::dependency;

async fn ready(api: &Api) -> (u16, serde_json::Value) {
    let answer = api.send_operations(TestRequest::get().uri("/readyz")).await;
    (answer.status, answer.json())
}

#[actix_web::test]
async fn health_looks_at_the_process_alone() {
    let api = Api::new();
    *api.service.dependencies.lock().unwrap() = vec![dependency("database", true, false)];
    let answer = api.send_operations(TestRequest::get().uri("/healthz")).await;
    assert_eq!((answer.status, &answer.json()["status"]), (200, &json!("ok")));
}

#[actix_web::test]
async fn readiness_needs_what_is_required() {
    let api = Api::new();
    *api.service.dependencies.lock().unwrap() =
        vec![dependency("database", true, true), dependency("reranker", false, false)];
    let (status, body) = ready(&api).await;
    assert_eq!((status, &body["status"]), (200, &json!("ready")));
    assert_eq!(
        body["dependencies"][1],
        json!({"name": "reranker", "required": false, "state": "down", "latency_ms": 1.5})
    );
    assert!(body["request_id"].is_string());

    *api.service.dependencies.lock().unwrap() = vec![dependency("database", true, false)];
    let (status, body) = ready(&api).await;
    assert_eq!((status, &body["status"]), (503, &json!("unavailable")));
}

#[actix_web::test]
async fn probes_may_use_head_and_nothing_else() {
    let api = Api::new();
    for path in ["/healthz", "/readyz"] {
        let head = TestRequest::with_uri(path).method(actix_web::http::Method::HEAD);
        assert_eq!(api.send_operations(head).await.status, 200);
        let answer = api.send_operations(TestRequest::post().uri(path)).await;
        answer.expect_error(405, "method_not_allowed");
        assert_eq!(answer.header("Allow"), Some("GET, HEAD"));
    }
}

#[actix_web::test]
async fn what_was_counted_is_text_for_the_internal_listener_alone() {
    let api = Api::new();
    let answer = api.send_operations(TestRequest::get().uri("/metrics")).await;
    assert_eq!((answer.status, answer.header("Content-Type")), (200, Some("text/plain; version=0.0.4")));
    assert_eq!(answer.bytes, b"counted_total 7\n");
    api.send(TestRequest::get().uri("/metrics")).await.expect_error(404, "not_found");
    api.send_operations(TestRequest::post().uri("/metrics")).await.expect_error(405, "method_not_allowed");
}

#[actix_web::test]
async fn the_two_listeners_do_not_serve_each_other() {
    let api = Api::new();
    api.send_operations(TestRequest::get().uri("/v1/files")).await.expect_error(404, "not_found");
    api.send(TestRequest::get().uri("/healthz")).await.expect_error(404, "not_found");
}
