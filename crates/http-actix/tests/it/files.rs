use actix_web::test::TestRequest;
use model::RunMode;
use serde_json::{Value, json};
use test_support::Setup;
use uuid::Uuid;

use crate::api::{Answer, Api, PUBLIC_URL};

#[actix_web::test]
async fn presign_gives_the_upload_address() {
    let api = Api::new().await;
    let request = json!({"filename": "../ä.txt", "size": 5, "content_type": "text/plain"});
    let body = api.post("/v1/files/presign", &request).await.json();
    assert_eq!(body["$schema"], format!("{PUBLIC_URL}/schemas/PresignResponse.json"));
    assert!(body["url"].as_str().unwrap().contains("?size=5&"), "{body}");
    assert_eq!((&body["name"], &body["expires_in_seconds"]), (&json!("ä.txt"), &json!(900)));
    assert_eq!(body["max_object_bytes"], 1 << 20);
    let files = api.world.store.list_files(api.tenant.organization_id, None, 10).await.unwrap();
    let [file] = &files[..] else { panic!("{files:?}") };
    assert_eq!((file.name.as_str(), file.content_type.as_deref()), ("ä.txt", Some("text/plain")));
}

#[actix_web::test]
async fn files_are_listed() {
    let api = Api::new().await;
    api.world.upload(&api.tenant, "a.txt", "12345").await;
    let body = api.get("/v1/files").await.json();
    let [file] = &body["files"].as_array().unwrap()[..] else { panic!("{body}") };
    assert_eq!((&file["name"], &file["size"]), (&json!("a.txt"), &json!(5)));
    assert!(file["last_modified"].as_str().unwrap().ends_with('Z'));
    assert!(body["request_id"].is_string());
}

async fn delete(api: &Api, name: &str) -> Answer {
    api.send(api.authorized(TestRequest::delete().uri(&format!("/v1/files/{name}")))).await
}

#[actix_web::test]
async fn names_are_decoded_once() {
    let api = Api::new().await;
    for (sent, name) in [
        ("secret%20plan.txt", "secret plan.txt"),
        ("a%2Fb.txt", "a/b.txt"),
        ("100%2525.txt", "100%25.txt"),
        ("a+b.txt", "a+b.txt"),
        ("%E6%97%A5%E6%9C%AC.txt", "日本.txt"),
        ("..%2F..%2Fetc%2Fpasswd.txt", "../../etc/passwd.txt"),
        ("a%3Fb.txt", "a?b.txt"),
    ] {
        api.world.plant_file(&api.tenant, name, "A text.").await;
        assert_eq!(delete(&api, sent).await.json()["deleted"], true, "{sent}");
        assert_eq!(delete(&api, sent).await.json()["deleted"], false, "{sent} is gone");
    }
    assert_eq!(delete(&api, "unknown").await.json()["deleted"], false);
}

#[actix_web::test]
async fn invalid_names_are_refused() {
    let api = Api::new().await;
    delete(&api, "%FF.txt").await.expect_invalid("name");
    let longest = "%C3%A9".repeat(508) + ".txt";
    assert_eq!(delete(&api, &longest).await.status, 200);
    delete(&api, &("%C3%A9".repeat(509) + ".txt")).await.expect_invalid("name");
}

#[actix_web::test]
async fn a_run_is_started_in_its_mode() {
    let api = Api::new().await;
    let mut runs = Vec::new();
    // No worker is running: the later requests join the run that waits, and make it a full one.
    for (body, mode) in [
        (json!({}), RunMode::Incremental),
        (json!({"mode": "incremental"}), RunMode::Incremental),
        (json!({"mode": "full"}), RunMode::Full),
    ] {
        let answer = api.post("/v1/files/index", &body).await;
        assert_eq!((answer.status, &answer.json()["state"]), (202, &json!("queued")));
        let sync_id = answer.json()["sync_id"].as_str().unwrap().to_owned();
        let run = api.world.recorded_run(&api.tenant, &sync_id).await;
        assert_eq!(run.mode, mode, "{body}");
        runs.push(sync_id);
    }
    runs.dedup();
    assert_eq!(runs.len(), 1);
    api.post_raw("/v1/files/index", "[]").await.expect_error(400, "validation_error");
}

#[actix_web::test]
async fn a_run_is_started_without_a_body() {
    let api = Api::new().await;
    let plain = api.post_raw("/v1/files/index", "").await;
    assert_eq!(plain.status, 202);
    // As some clients send it.
    let typed = TestRequest::post().uri("/v1/files/index").insert_header(("Content-Type", "text/plain"));
    assert_eq!(api.send(api.authorized(typed)).await.status, 202);
    let sync_id = plain.json()["sync_id"].as_str().unwrap().to_owned();
    assert_eq!(api.world.recorded_run(&api.tenant, &sync_id).await.mode, RunMode::Incremental);
    api.post_raw("/v1/files/presign", "").await.expect_error(400, "validation_error");
}

#[actix_web::test]
async fn a_queued_run_reports_its_times_as_null() {
    let api = Api::new().await;
    let started = api.post("/v1/files/index", &json!({})).await.json();
    let body = api.get(&format!("/v1/files/index/{}", started["sync_id"].as_str().unwrap())).await.json();
    for field in ["started_at", "completed_at", "error"] {
        assert_eq!(body.get(field), Some(&Value::Null), "{field}");
    }
    assert_eq!(body["state"], "queued");
}

#[actix_web::test]
async fn a_completed_run_reports_what_it_did() {
    let api = Api::new().await;
    api.world.upload(&api.tenant, "gone.txt", "A text.").await;
    api.world.index_files(&api.tenant, RunMode::Incremental).await;
    api.world.lose_object(&api.tenant, "gone.txt").await;
    for name in ["1.txt", "2.txt", "3.txt", "4.txt"] {
        api.world.upload(&api.tenant, name, "A text.").await;
    }
    for name in ["1.pdf", "2.pdf"] {
        api.world.upload(&api.tenant, name, "not a PDF").await;
    }
    for name in ["1.exe", "2.exe", "3.exe"] {
        api.world.plant_file(&api.tenant, name, "MZ").await;
    }
    let run = api.world.index_files(&api.tenant, RunMode::Incremental).await;
    let body = api.get(&format!("/v1/files/index/{}", run.sync_id)).await.json();
    assert_eq!((&body["state"], &body["error"]), (&json!("completed"), &Value::Null));
    let times = ["started_at", "completed_at"].map(|field| body[field].as_str().unwrap().to_owned());
    assert!(times.iter().all(|time| time.ends_with('Z')) && times[0] <= times[1], "{times:?}");
    let stats = json!({"enumerated": 9, "fetched": 6, "indexed": 4, "failed": 2, "skipped_unsupported": 3, "deleted": 1,
        "bytes": 46});
    assert_eq!(body["stats"], stats);
}

#[actix_web::test]
async fn unknown_runs_are_not_found() {
    let api = Api::new().await;
    for id in ["x", &Uuid::from_u128(1).to_string(), &"x".repeat(128)] {
        let answer = api.get(&format!("/v1/files/index/{id}")).await;
        answer.expect_error(404, "sync_not_found");
        assert_eq!(answer.rate_headers(), 3);
    }
    api.get(&format!("/v1/files/index/{}", "x".repeat(129))).await.expect_invalid("sync_id");
}

#[actix_web::test]
async fn exceeded_quotas_are_named_with_their_limits() {
    let mut setup = Setup::default();
    setup.options.max_files_per_organization = 2;
    setup.options.max_bytes_per_organization = Some(100);
    let api = Api::with(setup).await;
    let presign =
        async |name: &str, size: u64| api.post("/v1/files/presign", &json!({"filename": name, "size": size})).await;
    assert_eq!(presign("a.txt", 60).await.status, 200);
    let details = presign("b.txt", 41).await.expect_error(507, "quota_exceeded");
    assert_eq!(details, json!({"field": "size", "quota": "bytes", "used": 60, "limit": 100}));
    assert_eq!(presign("b.txt", 40).await.status, 200);
    let details = presign("c.txt", 0).await.expect_error(507, "quota_exceeded");
    assert_eq!(details, json!({"field": "filename", "quota": "files", "used": 2, "limit": 2}));
    let me = api.get("/v1/me").await.json();
    assert_eq!(me["quotas"], json!({"files": {"used": 2, "limit": 2}, "bytes": {"used": 100, "limit": 100}}));
}
