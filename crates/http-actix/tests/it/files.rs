use std::sync::atomic::Ordering;
use std::time::Duration;

use actix_web::test::TestRequest;
use http_actix::MemoryLimits;
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

#[actix_web::test]
async fn listed_file_is_read_by_its_url_and_then_by_its_id() {
    let api = Api::new().await;
    for name in ["a b.txt", "日本.txt"] {
        api.world.upload(&api.tenant, name, "The tides.").await;
    }
    api.world.index_files(&api.tenant, RunMode::Incremental).await;
    let files = api.get("/v1/files").await.json()["files"].clone();
    let files = files.as_array().unwrap();
    assert_eq!(files.len(), 2);
    for file in files {
        let by_id = json!({"doc_id": file["doc_id"]});
        api.post("/v1/document", &by_id).await.expect_error(404, "document_not_found");
        let by_url = json!({"canonical_url": file["canonical_url"]});
        assert_eq!(api.post("/v1/document", &by_url).await.json()["doc"]["doc_id"], file["doc_id"]);
        assert_eq!(api.post("/v1/document", &by_id).await.json()["doc"]["canonical_url"], file["canonical_url"]);
    }
}

#[actix_web::test]
async fn the_whole_list_takes_memory_while_it_is_read() {
    // One list at a time.
    let max_wait = Duration::from_millis(50);
    let memory = MemoryLimits { large_response: 16, responses: 400, max_wait, ..MemoryLimits::default() };
    let api = Api::new().await.with_memory(memory);
    // More than storage lists at a time.
    let names: Vec<String> = (0..1_001).map(|number| format!("{number:04}.txt")).collect();
    for name in &names {
        api.world.plant_file(&api.tenant, name, "A text.").await;
    }
    let unread = api.send_unread(api.authorized(TestRequest::get().uri("/v1/files"))).await;
    let listed = || api.world.blobs.listed.swap(0, Ordering::Relaxed);
    listed();
    api.get("/v1/files").await.expect_error(503, "overloaded");
    assert_eq!(listed(), 1, "it is refused before the rest is read");
    drop(unread);
    let body = api.get("/v1/files").await.json();
    let found: Vec<&str> =
        body["files"].as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap()).collect();
    assert_eq!((found, listed()), (names.iter().map(String::as_str).collect(), 2));
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
async fn a_run_is_not_started_without_a_body() {
    let api = Api::new().await;
    for path in ["/v1/files/index", "/v1/files/presign"] {
        api.post_raw(path, "").await.expect_error(400, "validation_error");
    }
    let typed = TestRequest::post().uri("/v1/files/index").insert_header(("Content-Type", "text/plain"));
    api.send(api.authorized(typed)).await.expect_error(400, "validation_error");
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

#[actix_web::test]
async fn files_are_listed_with_their_state_and_in_pages() {
    let api = Api::new().await;
    for (name, body) in [("a.txt", "A text."), ("b.pdf", "No PDF."), ("c.txt", "Another text.")] {
        api.world.upload(&api.tenant, name, body).await;
    }
    let run = api.world.index_files(&api.tenant, RunMode::Incremental).await;
    api.world.upload(&api.tenant, "d.txt", "A new text.").await;
    let all = api.get("/v1/files").await.json();
    let statuses: Vec<_> = all["files"].as_array().unwrap().iter().map(|file| file["status"].clone()).collect();
    assert_eq!(statuses, ["indexed", "failed", "indexed", "pending"]);
    assert!(all["files"][1]["reason"].as_str().unwrap().starts_with("wrong_type: "));
    assert!(
        all["files"][0]["indexed_at"].as_str().unwrap().ends_with('Z') && all["files"][3].get("indexed_at").is_none()
    );
    assert_eq!((&all["files"][0]["labels"], all.get("next_cursor")), (&json!([]), None));

    let sync_id = run.sync_id;
    for (path, count) in [("/v1/files".to_owned(), 4), (format!("/v1/files/index/{sync_id}/files"), 3)] {
        let (mut listed, mut query) = (Vec::new(), "?limit=2".to_owned());
        loop {
            let page = api.get(&format!("{path}{query}")).await.json();
            listed.extend(page["files"].as_array().unwrap().clone());
            match page["next_cursor"].as_str() {
                Some(cursor) => query = format!("?limit=2&cursor={cursor}"),
                None => break,
            }
        }
        assert_eq!(listed.len(), count);
        if path == "/v1/files" {
            assert_eq!(Value::from(listed), all["files"]);
        }
        for limit in ["0", "-1", "1001", "ten", "1.5"] {
            api.get(&format!("{path}?limit={limit}")).await.expect_invalid("limit");
        }
        for cursor in ["x", "a.txt", "%F0%9F%98%80", "ZmEAZjT9zw"] {
            api.get(&format!("{path}?cursor={cursor}")).await.expect_invalid("cursor");
        }
        api.get(&format!("{path}?page=2")).await.expect_error(400, "validation_error");
    }
    api.get(&format!("/v1/files/index/{}/files", Uuid::from_u128(1))).await.expect_error(404, "sync_not_found");
}

#[actix_web::test]
async fn one_file_is_described_and_downloaded() {
    let api = Api::new().await;
    for name in ["secret plan.txt", "a/b.txt", "100%25.txt", "日本.txt"] {
        api.world.plant_file(&api.tenant, name, "A text.").await;
    }
    for (path, name) in [
        ("secret%20plan.txt", "secret plan.txt"),
        ("a%2Fb.txt", "a/b.txt"),
        ("100%2525.txt", "100%25.txt"),
        ("%E6%97%A5%E6%9C%AC.txt", "日本.txt"),
    ] {
        let file = api.get(&format!("/v1/files/{path}")).await.json();
        assert_eq!((&file["name"], &file["status"], &file["size"]), (&json!(name), &json!("pending"), &json!(7)));
        let content = api.get(&format!("/v1/files/{path}/content")).await.json();
        assert!(content["url"].as_str().unwrap().starts_with("memory://bucket/files/"), "{content}");
        assert_eq!(content["expires_in_seconds"], 900);
    }
    for path in ["unknown.txt", "a/b.txt/content", "unknown.txt/content", "presigned"] {
        let answer = api.get(&format!("/v1/files/{path}")).await;
        assert_eq!(answer.status, 404, "{path}");
        assert_eq!(answer.rate_headers(), 3);
    }
    assert_eq!(api.get("/v1/files/unknown.txt").await.expect_error(404, "file_not_found")["field"], "name");
    api.get(&format!("/v1/files/{}", "x".repeat(513))).await.expect_invalid("name");
    // The fixed segments of other operations are no names.
    for path in ["/v1/files/presign", "/v1/files/index"] {
        api.get(path).await.expect_error(405, "method_not_allowed");
    }
}

#[actix_web::test]
async fn labels_are_checked_stored_and_searched() {
    let api = Api::new().await;
    let presign = async |labels: Value| {
        let request = json!({"filename": "a.txt", "size": 7, "labels": labels});
        api.post("/v1/files/presign", &request).await
    };
    presign(json!(["x".repeat(65)])).await.expect_invalid("labels[0]");
    presign(json!(["a", ""])).await.expect_invalid("labels[1]");
    presign(json!(["a", "\u{7}"])).await.expect_invalid("labels[1]");
    presign(json!(vec!["a"; 21])).await.expect_invalid("labels");
    presign(Value::Null).await.expect_invalid("labels");
    assert_eq!(presign(json!([" Q3 ", "finance"])).await.status, 200);
    api.world.upload(&api.tenant, "a.txt", "A text.").await;
    api.world.index_files(&api.tenant, RunMode::Incremental).await;
    assert_eq!(api.get("/v1/files/a.txt").await.json()["labels"], json!(["Q3", "finance"]));
    let search = async |labels: Value| {
        let scope = json!({"indexes": ["web", "workspace"], "workspace_id": api.tenant.organization_id.0});
        api.search(json!({"query": "text", "scope": scope, "filters": {"labels": labels}})).await
    };
    for (labels, count) in [(json!(["FINANCE", "other"]), 1), (json!(["other"]), 0), (json!([]), 1)] {
        assert_eq!(search(labels.clone()).await.json()["results"].as_array().unwrap().len(), count, "{labels}");
    }
    search(json!(["a", " "])).await.expect_invalid("filters.labels[1]");
    search(json!(vec!["a"; 21])).await.expect_invalid("filters.labels");
    search(json!("finance")).await.expect_error(400, "validation_error");
}

#[actix_web::test]
async fn a_replaced_file_is_named() {
    let api = Api::new().await;
    let presign = async |name: &str| api.post("/v1/files/presign", &json!({"filename": name, "size": 1})).await.json();
    assert!(presign("a/b.txt").await.get("replaces").is_none());
    let second = presign("ab.txt").await;
    assert_eq!((&second["name"], &second["replaces"]), (&json!("ab.txt"), &json!("a/b.txt")));
}
