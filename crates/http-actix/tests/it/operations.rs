use std::sync::Arc;

use actix_web::test::TestRequest;
use app::search::SecondStage;
use app::supervisor::Supervisor;
use blobs::BlobErrorKind;
use engine::EngineErrorKind;
use serde_json::json;
use test_support::{EngineFault, Setup, TestReranker};

use crate::api::Api;

async fn ready(api: &Api) -> (u16, serde_json::Value) {
    let answer = api.send_operations(TestRequest::get().uri("/readyz")).await;
    (answer.status, answer.json())
}

#[actix_web::test]
async fn health_looks_at_the_process_alone() {
    let api = Api::new().await;
    api.world.engine.fail(EngineFault::Error(EngineErrorKind::Unavailable));
    api.world.break_database().await;
    let answer = api.send_operations(TestRequest::get().uri("/healthz")).await;
    assert_eq!((answer.status, &answer.json()["status"]), (200, &json!("ok")));
}

#[actix_web::test]
async fn readiness_needs_every_required_dependency() {
    let second_stage = SecondStage::Model(Arc::new(TestReranker::unreachable()));
    let api = Api::with(Setup { second_stage, ..Setup::default() }).await;
    let (status, body) = ready(&api).await;
    assert_eq!((status, &body["status"]), (200, &json!("ready")));
    let states: Vec<_> =
        body["dependencies"].as_array().unwrap().iter().map(|one| (&one["name"], &one["state"])).collect();
    let expected = [("database", "up"), ("storage", "up"), ("index", "up"), ("reranker", "down")];
    assert_eq!(
        states,
        expected.map(|(name, state)| (json!(name), json!(state))).each_ref().map(|(name, state)| (name, state))
    );
    let reranker = json!({"name": "reranker", "required": false, "state": "down", "latency_ms": 0.0,
        "detail": "the last call failed"});
    assert_eq!(body["dependencies"][3], reranker);
    assert!(body["dependencies"][0].get("detail").is_none());
    assert!(body["request_id"].is_string());

    api.world.blobs.fail(BlobErrorKind::Unavailable);
    let (status, body) = ready(&api).await;
    assert_eq!((status, &body["status"]), (200, &json!("ready")), "searches need no storage");
    let storage = &body["dependencies"][1];
    assert_eq!((&storage["state"], &storage["required"]), (&json!("down"), &json!(false)));
}

#[actix_web::test]
async fn database_and_index_are_required() {
    let api = Api::new().await;
    api.world.engine.fail(EngineFault::Error(EngineErrorKind::Unavailable));
    let (status, body) = ready(&api).await;
    assert_eq!((status, &body["status"]), (503, &json!("unavailable")));
    api.world.engine.fail(EngineFault::Panic);
    let (status, body) = ready(&api).await;
    assert_eq!((status, &body["error"]["code"]), (500, &json!("internal_error")));
    api.world.engine.recover();
    assert_eq!(ready(&api).await.0, 200);
    api.world.break_database().await;
    assert_eq!(ready(&api).await.0, 503);
}

#[actix_web::test]
async fn probes_may_use_head_and_nothing_else() {
    let api = Api::new().await;
    for path in ["/healthz", "/readyz", "/metrics"] {
        let head = TestRequest::with_uri(path).method(actix_web::http::Method::HEAD);
        let answer = api.send_operations(head).await;
        assert_eq!((answer.status, answer.header("X-Request-ID").is_some()), (200, true), "{path}");
        let answer = api.send_operations(TestRequest::post().uri(path)).await;
        answer.expect_error(405, "method_not_allowed");
        assert_eq!(answer.header("Allow"), Some("GET, HEAD"));
    }
}

#[actix_web::test]
async fn metrics_are_text_on_the_internal_listener_alone() {
    let api = Api::new().await;
    let answer = api.send_operations(TestRequest::get().uri("/metrics")).await;
    assert_eq!((answer.status, answer.header("Content-Type")), (200, Some("text/plain; version=0.0.4")));
    assert_eq!(answer.bytes, b"counted_total 7\n");
    api.send(TestRequest::get().uri("/metrics")).await.expect_error(404, "not_found");
    api.send_operations(TestRequest::post().uri("/metrics")).await.expect_error(405, "method_not_allowed");
}

#[actix_web::test]
async fn the_two_listeners_do_not_serve_each_other() {
    let api = Api::new().await;
    api.send_operations(TestRequest::get().uri("/v1/files")).await.expect_error(404, "not_found");
    api.send(TestRequest::get().uri("/healthz")).await.expect_error(404, "not_found");
}

#[actix_web::test]
async fn panicked_task_is_shown_and_does_not_take_the_instance_out_of_service() {
    let supervisor = Supervisor::default();
    let api = Api::with(Setup { supervisor: supervisor.clone(), ..Setup::default() }).await;
    supervisor.spawn("feeder", || async { panic!("disk 7 is on fire") });
    let task = loop {
        let (status, body) = ready(&api).await;
        assert_eq!(status, 200);
        let task = body["tasks"].as_array().unwrap().last().unwrap().clone();
        if task["state"] == "restarting" {
            break task;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!((&task["name"], &task["last_panic"]), (&json!("feeder"), &json!("disk 7 is on fire")));
    assert!(task["panics"].as_u64() >= Some(1), "{task}");
}
