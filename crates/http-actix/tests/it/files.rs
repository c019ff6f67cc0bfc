use actix_web::test::TestRequest;
use app::files::RunView;
use model::{RunState, RunStats};
use serde_json::{Value, json};
use time::macros::datetime;
use uuid::Uuid;

use crate::api::{Api, PUBLIC_URL, authorized};
use crate::fake::{SYNC_ID, run};

#[actix_web::test]
async fn presign_gives_the_upload_address() {
    let api = Api::new();
    let request = json!({"filename": "ä.txt", "size": 5, "content_type": "text/plain"});
    let body = api.post("/v1/files/presign", &request).await.json();
    assert_eq!(body["$schema"], format!("{PUBLIC_URL}/schemas/PresignResponse.json"));
    assert_eq!(body["url"], "http://storage.example/a");
    assert_eq!((&body["name"], &body["expires_in_seconds"]), (&json!("a.txt"), &json!(900)));
    assert_eq!(body["max_object_bytes"], 104_857_600);
    let asked = api.service.presigned.lock().unwrap().pop().unwrap();
    assert_eq!((asked.filename.as_str(), asked.size), ("ä.txt", 5));
    assert_eq!(asked.content_type.as_deref(), Some("text/plain"));
}

#[actix_web::test]
async fn files_are_listed() {
    let body = Api::new().get("/v1/files").await.json();
    assert_eq!(body["files"], json!([{"name": "a.txt", "size": 5, "last_modified": "2026-01-01T00:00:00Z"}]));
    assert!(body["request_id"].is_string());
}

async fn delete(api: &Api, name: &str) -> crate::api::Answer {
    api.send(authorized(TestRequest::delete().uri(&format!("/v1/files/{name}")))).await
}

#[actix_web::test]
async fn names_are_decoded_once() {
    let api = Api::new();
    for (sent, name) in [
        ("secret%20plan.txt", "secret plan.txt"),
        ("a%2Fb.txt", "a/b.txt"),
        ("100%2525.txt", "100%25.txt"),
        ("a+b.txt", "a+b.txt"),
        ("%E6%97%A5%E6%9C%AC.txt", "日本.txt"),
        ("..%2F..%2Fetc%2Fpasswd.txt", "../../etc/passwd.txt"),
        ("a%3Fb.txt", "a?b.txt"),
    ] {
        let answer = delete(&api, sent).await;
        assert_eq!(answer.json()["deleted"], true, "{sent}");
        assert_eq!(api.service.deleted.lock().unwrap().pop().unwrap(), name);
    }
    assert_eq!(delete(&api, "unknown").await.json()["deleted"], false);
}

#[actix_web::test]
async fn names_that_cannot_be_are_refused() {
    let api = Api::new();
    delete(&api, "%FF.txt").await.expect_invalid("name");
    let longest = "%C3%A9".repeat(508) + ".txt";
    assert_eq!(delete(&api, &longest).await.status, 200);
    delete(&api, &("%C3%A9".repeat(509) + ".txt")).await.expect_invalid("name");
}

#[actix_web::test]
async fn a_run_is_started_in_its_mode() {
    let api = Api::new();
    for (body, mode) in
        [(json!({}), "Incremental"), (json!({"mode": "incremental"}), "Incremental"), (json!({"mode": "full"}), "Full")]
    {
        let answer = api.post("/v1/files/index", &body).await;
        assert_eq!(answer.status, 202);
        assert_eq!((&answer.json()["sync_id"], &answer.json()["state"]), (&json!(SYNC_ID.0), &json!("queued")));
        assert_eq!(api.service.runs.lock().unwrap().pop().unwrap(), mode);
    }
    api.post_raw("/v1/files/index", "").await.expect_error(400, "validation_error");
}

#[actix_web::test]
async fn a_run_reports_what_is_not_yet_as_null() {
    let api = Api::new();
    let body = api.get(&format!("/v1/files/index/{SYNC_ID}")).await.json();
    for field in ["started_at", "completed_at", "error"] {
        assert_eq!(body.get(field), Some(&Value::Null), "{field}");
    }
    *api.service.run_answer.lock().unwrap() = Box::new(|| {
        Ok(RunView {
            state: RunState::Completed,
            started_at: Some(datetime!(2026-01-01 00:00 UTC)),
            completed_at: Some(datetime!(2026-01-01 00:01 UTC)),
            stats: RunStats {
                enumerated: 7,
                fetched: 6,
                indexed: 5,
                failed: 4,
                skipped_unsupported: 3,
                deleted: 2,
                bytes: 1,
            },
            ..run()
        })
    });
    let body = api.get(&format!("/v1/files/index/{SYNC_ID}")).await.json();
    assert_eq!((&body["state"], &body["completed_at"]), (&json!("completed"), &json!("2026-01-01T00:01:00Z")));
    let stats = json!({"enumerated": 7, "fetched": 6, "indexed": 5, "failed": 4, "skipped_unsupported": 3, "deleted": 2, "bytes": 1});
    assert_eq!(body["stats"], stats);
}

#[actix_web::test]
async fn unknown_runs_are_not_found() {
    let api = Api::new();
    for id in ["x", &Uuid::from_u128(1).to_string(), &"x".repeat(128)] {
        let answer = api.get(&format!("/v1/files/index/{id}")).await;
        answer.expect_error(404, "sync_not_found");
        assert_eq!(answer.rate_headers(), 3);
    }
    api.get(&format!("/v1/files/index/{}", "x".repeat(129))).await.expect_invalid("sync_id");
}
