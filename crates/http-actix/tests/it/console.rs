//! The console's files.

use std::io::Read;

use actix_web::test::TestRequest;
use flate2::read::GzDecoder;

use crate::api::{Answer, Api};

async fn get(api: &Api, path: &str, headers: &[(&'static str, &str)]) -> Answer {
    let request = headers.iter().fold(TestRequest::get().uri(path), |request, header| request.insert_header(*header));
    api.send(request).await
}

#[actix_web::test]
async fn every_file_is_served_without_a_key_under_a_strict_policy() {
    let api = Api::new().await;
    for file in console::files() {
        let path = format!("/console/{}", file.path);
        let answer = get(&api, &path, &[]).await;
        assert_eq!((answer.status, answer.header("Content-Type")), (200, Some(file.media_type)), "{path}");
        assert_eq!(answer.bytes, file.text.as_bytes(), "{path}");
        let policy = answer.header("Content-Security-Policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains('*'), "{policy}");
        assert_eq!(answer.header("X-Content-Type-Options"), Some("nosniff"));
        assert_eq!(answer.header("Referrer-Policy"), Some("no-referrer"));
        assert_eq!(answer.header("Cross-Origin-Opener-Policy"), Some("same-origin"));
        assert_eq!(answer.header("Cache-Control"), Some("no-cache"));
    }
}

#[actix_web::test]
async fn policy_permits_uploads_to_the_store_only() {
    let api = Api::new().await;
    let signed = api.post("/v1/files/presign", &serde_json::json!({"filename": "a.md", "size": 1})).await.json();
    let url = signed["url"].as_str().unwrap();
    let (scheme, rest) = url.split_once("://").unwrap();
    let origin = format!("{scheme}://{}", rest.split(['/', '?']).next().unwrap());
    let answer = get(&api, "/console/", &[]).await;
    let policy = answer.header("Content-Security-Policy").unwrap();
    let sources = policy.split("connect-src ").nth(1).unwrap().split(';').next().unwrap();
    let expected = if scheme.starts_with("http") { format!("'self' {origin}") } else { "'self'".to_owned() };
    assert_eq!(sources, expected, "{url}");
}

/// Addresses are relative, because a proxy may serve the API below a path.
#[actix_web::test]
async fn page_names_its_files_with_and_without_a_trailing_slash() {
    let api = Api::new().await;
    for (address, folder) in
        [("/console", "console/"), ("/console/", ""), ("/console/index.html", ""), ("/console/?a=b", "")]
    {
        let page = get(&api, address, &[]).await;
        assert_eq!((page.status, page.header("Content-Type")), (200, Some("text/html; charset=utf-8")), "{address}");
        assert!(page.header("Content-Security-Policy").is_some());
        let text = String::from_utf8(page.bytes).unwrap();
        for file in ["app.js", "style/base.css", "icon.svg", "vendor/preact.mjs"] {
            assert!(text.contains(&format!("\"{folder}{file}\"")), "{address} {file}");
        }
        assert!(!text.contains("{{"), "{text}");
    }
}

#[actix_web::test]
async fn files_are_compressed_and_cached() {
    let api = Api::new().await;
    let plain = get(&api, "/console/style/views.css", &[]).await;
    let compressed = get(&api, "/console/style/views.css", &[("Accept-Encoding", "gzip")]).await;
    assert_eq!(compressed.header("Content-Encoding"), Some("gzip"));
    let mut unpacked = Vec::new();
    GzDecoder::new(&compressed.bytes[..]).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, plain.bytes);
    let tag = plain.header("ETag").unwrap().to_owned();
    let again = get(&api, "/console/style/views.css", &[("If-None-Match", &tag)]).await;
    assert_eq!((again.status, again.bytes.len()), (304, 0));
    assert!(again.header("Content-Security-Policy").is_some());
}

#[actix_web::test]
async fn nothing_else_is_served() {
    let api = Api::new().await;
    for path in [
        "/console/x.js",
        "/console/../docs",
        "/console/static/app.js",
        "/console/vendor/SHA256SUMS",
        "/console//app.js",
        "/console/%2e%2e/Cargo.toml",
    ] {
        assert_eq!(get(&api, path, &[]).await.status, 404, "{path}");
    }
    let posted = api.send(TestRequest::post().uri("/console/")).await;
    posted.expect_error(405, "method_not_allowed");
}
