use actix_web::test::TestRequest;
use app::Error;
use serde_json::json;

use crate::api::{Api, PUBLIC_URL, authorized};

#[actix_web::test]
async fn unknown_paths_are_not_found_everywhere() {
    let api = Api::new();
    for path in [
        "/",
        "/nope",
        "/v2/search",
        "/schemas/",
        "/schemas/Nope.json",
        "/schemas/SearchRequest",
        "/schemas/%FF",
        "/v1x",
    ] {
        let answer = api.send(TestRequest::get().uri(path)).await;
        answer.expect_error(404, "not_found");
        assert_eq!(answer.rate_headers(), 0, "{path} is not behind the door");
    }
    for path in ["/v1", "/v1/", "/v1/nope", "/v1/search/", "/v1/files/", "/v1/files/a/b", "/v1/nope?x=1"] {
        api.send(TestRequest::get().uri(path)).await.expect_error(401, "missing_api_key");
        let answer = api.get(path).await;
        answer.expect_error(404, "not_found");
        assert_eq!(answer.rate_headers(), 3, "{path}");
    }
}

#[actix_web::test]
async fn wrong_methods_name_the_right_one() {
    let api = Api::new();
    for (method, path, allow) in [
        ("GET", "/v1/search", "POST"),
        ("DELETE", "/v1/document", "POST"),
        ("GET", "/v1/files/presign", "POST"),
        ("POST", "/v1/files", "GET"),
        ("GET", "/v1/files/a.txt", "DELETE"),
        ("POST", "/v1/files/index/x", "GET"),
        ("PATCH", "/v1/feedback", "POST"),
    ] {
        let request = TestRequest::with_uri(path).method(method.parse().unwrap());
        let answer = api.send(authorized(request)).await;
        answer.expect_error(405, "method_not_allowed");
        assert_eq!(answer.header("Allow"), Some(allow), "{method} {path}");
        assert_eq!(answer.rate_headers(), 3);
    }
    let schema = api.send(TestRequest::post().uri("/schemas/SearchRequest.json")).await;
    schema.expect_error(405, "method_not_allowed");
}

#[actix_web::test]
async fn use_case_errors_have_their_code() {
    let api = Api::new();
    let cause = || "disk 7 is on fire".into();
    type Make = Box<dyn Fn() -> Error + Send>;
    let cases: [(Make, u16, &str); 11] = [
        (Box::new(|| Error::invalid("scope.workspace_id", "is not yours")), 400, "validation_error"),
        (Box::new(|| Error::DocumentNotFound), 404, "document_not_found"),
        (Box::new(|| Error::SearchNotFound), 404, "search_not_found"),
        (Box::new(|| Error::SyncNotFound), 404, "sync_not_found"),
        (Box::new(|| Error::FileTooLarge { size: 2, max_object_bytes: 1 }), 413, "file_too_large"),
        (
            Box::new(|| Error::UnsupportedFileType { extension: "exe".into(), supported: "txt".into() }),
            415,
            "unsupported_file_type",
        ),
        (Box::new(|| Error::InsufficientBalance), 402, "insufficient_balance"),
        (Box::new(move || Error::Unavailable { backend: "search", source: cause() }), 502, "provider_unavailable"),
        (Box::new(|| Error::NoRetrieval), 503, "provider_unavailable"),
        (Box::new(move || Error::Internal(cause())), 500, "internal_error"),
        (Box::new(|| panic!("disk 7 is on fire")), 500, "internal_error"),
    ];
    for (make, status, code) in cases {
        // Each error from a use case that has it: every answer is held against what its operation publishes.
        let answer = match code {
            "search_not_found" => {
                *api.service.feedback_answer.lock().unwrap() = Box::new(move || Err(make()));
                api.post("/v1/feedback", &json!({"event_type": "stale_result"})).await
            }
            "document_not_found" => {
                api.service.on_read(move || Err(make()));
                api.post("/v1/document", &json!({"canonical_url": "https://example.com/"})).await
            }
            "sync_not_found" => {
                *api.service.run_answer.lock().unwrap() = Box::new(move || Err(make()));
                api.get(&format!("/v1/files/index/{}", crate::fake::SYNC_ID)).await
            }
            "file_too_large" | "unsupported_file_type" => {
                *api.service.presign_answer.lock().unwrap() = Box::new(move || Err(make()));
                api.post("/v1/files/presign", &json!({"filename": "a.txt", "size": 1})).await
            }
            _ => {
                api.service.on_search(move || Err(make()));
                api.search(json!({"query": "x"})).await
            }
        };
        answer.expect_error(status, code);
        assert_eq!(answer.rate_headers(), 3, "{code}");
        assert!(!String::from_utf8_lossy(&answer.bytes).contains("fire"), "causes are for the log");
        assert_eq!(answer.json()["$schema"], format!("{PUBLIC_URL}/schemas/ErrorEnvelope.json"));
        // The panic poisoned the fake's lock, which is the fake's affair.
        api.service.search_answer.clear_poison();
    }
}

#[actix_web::test]
async fn a_panic_at_the_door_is_a_500_without_limits() {
    let api = Api::new();
    *api.service.authenticate_answer.lock().unwrap() = Box::new(|| panic!("boom"));
    let answer = api.search(json!({"query": "x"})).await;
    answer.expect_error(500, "internal_error");
    assert_eq!(answer.rate_headers(), 0);
}

#[actix_web::test]
async fn request_ids_are_new_each_time_and_in_body_and_header() {
    let api = Api::new();
    let mut seen = std::collections::HashSet::new();
    for _ in 0..3 {
        for answer in [api.search(json!({"query": "x"})).await, api.get("/v1/files").await, api.get("/nope").await] {
            let id = answer.json()["request_id"].as_str().unwrap().to_owned();
            assert_eq!(answer.header("X-Request-ID"), Some(id.as_str()));
            assert!(seen.insert(id));
        }
    }
}

#[actix_web::test]
async fn unknown_query_parameters_are_refused_on_every_endpoint() {
    let api = Api::new();
    for (method, path) in [
        ("POST", "/v1/search"),
        ("POST", "/v1/document"),
        ("POST", "/v1/feedback"),
        ("POST", "/v1/files/presign"),
        ("GET", "/v1/files"),
        ("DELETE", "/v1/files/a.txt"),
        ("POST", "/v1/files/index"),
        ("GET", "/v1/files/index/x"),
    ] {
        let request = TestRequest::with_uri(&format!("{path}?debug%20me=1")).method(method.parse().unwrap());
        let details = api.send(authorized(request)).await.expect_invalid("debug me");
        assert_eq!(details["error"], "unknown query parameter `debug me`");
    }
    api.send(TestRequest::get().uri("/schemas/SearchRequest.json?x")).await.expect_error(400, "validation_error");
    assert_eq!(api.get("/v1/files?").await.status, 200, "a bare question mark asks for nothing");
}

#[actix_web::test]
async fn schemas_are_served_to_everyone() {
    let api = Api::new();
    for name in ["SearchRequest", "SearchResponse", "ErrorEnvelope", "UsageOverview"] {
        let answer = api.send(TestRequest::get().uri(&format!("/schemas/{name}.json"))).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.json()["title"], name);
        assert_eq!(answer.header("Content-Type"), Some("application/schema+json"));
        assert!(answer.header("X-Request-ID").is_some());
    }
}

#[actix_web::test]
async fn every_schema_that_answers_name_is_served() {
    let api = Api::new();
    let search = api.search(json!({"query": "x"})).await;
    let read = api.post("/v1/document", &json!({"canonical_url": "https://example.com/"})).await;
    let feedback = api.post("/v1/feedback", &json!({"event_type": "stale_result"})).await;
    let presign = api.post("/v1/files/presign", &json!({"filename": "a.txt", "size": 1})).await;
    let list = api.get("/v1/files").await;
    let start = api.post("/v1/files/index", &json!({})).await;
    let status = api.get(&format!("/v1/files/index/{}", crate::fake::SYNC_ID)).await;
    let delete = api.send(authorized(TestRequest::delete().uri("/v1/files/a.txt"))).await;
    for answer in [search, read, feedback, presign, list, start, status, delete] {
        let schema = answer.json()["$schema"].as_str().unwrap().to_owned();
        let path = schema.strip_prefix(PUBLIC_URL).unwrap();
        assert_eq!(api.send(TestRequest::get().uri(path)).await.status, 200, "{schema}");
    }
}

#[actix_web::test]
async fn gzip_is_sent_only_when_asked_for_and_counts_nothing() {
    let api = Api::new();
    let body = json!({"query": "x"}).to_string();
    let ask = |encoding: &'static str| {
        authorized(TestRequest::post().uri("/v1/search"))
            .insert_header(("Accept-Encoding", encoding))
            .set_payload(body.clone())
    };
    let plain = api.send(ask("identity")).await;
    assert_eq!(plain.header("Content-Encoding"), None);
    let zipped = api.send(ask("gzip, deflate")).await;
    assert_eq!(zipped.header("Content-Encoding"), Some("gzip"));
    assert!(zipped.bytes.len() < plain.bytes.len());
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&zipped.bytes[..]), &mut text).unwrap();
    let body: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(body["usage"]["bytes_returned"], text.len());
}
