//! The reference page, `llms.txt` and the root.

use std::io::Read;

use actix_web::test::TestRequest;
use flate2::read::GzDecoder;
use openapi::{Call, operations};
use serde_json::{Value, json};

use crate::api::{Answer, Api, PUBLIC_URL};

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

async fn get(api: &Api, path: &str, headers: &[(&'static str, &str)]) -> Answer {
    let request = headers.iter().fold(TestRequest::get().uri(path), |request, header| request.insert_header(*header));
    api.send(request).await
}

fn text(answer: Answer) -> String {
    String::from_utf8(answer.bytes).unwrap()
}

#[actix_web::test]
async fn reference_loads_its_own_files_only() {
    let api = Api::new().await;
    for (path, media_type) in [
        ("/docs?utm_source=mail", "text/html; charset=utf-8"),
        ("/docs/reference.css", "text/css; charset=utf-8"),
        ("/docs/reference.js", "text/javascript; charset=utf-8"),
    ] {
        let answer = get(&api, path, &[]).await;
        assert_eq!((answer.status, answer.header("Content-Type")), (200, Some(media_type)), "{path}");
        let policy = answer.header("Content-Security-Policy").unwrap();
        assert!(policy.starts_with("default-src 'none';") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("X-Content-Type-Options"), Some("nosniff"));
        let compressed = get(&api, path, &[("Accept-Encoding", "gzip")]).await;
        assert_eq!(compressed.header("Content-Encoding"), Some("gzip"), "{path}");
        let mut unpacked = Vec::new();
        GzDecoder::new(&compressed.bytes[..]).read_to_end(&mut unpacked).unwrap();
        assert_eq!(unpacked, answer.bytes, "{path}");
    }
    let page = text(get(&api, "/docs", &[]).await);
    for file in ["docs/reference.css", "docs/reference.js", "openapi/public.json", "llms.txt", "console/"] {
        assert!(page.contains(&format!("\"{file}\"")), "{file}");
        assert_eq!(get(&api, &format!("/{file}"), &[]).await.status, 200, "{file}");
    }
}

#[actix_web::test]
async fn configured_url_is_filled_in_whatever_the_request_claims() {
    let api = Api::new().await;
    let claims = [("Host", "evil.example"), ("X-Forwarded-Host", "evil.example"), ("Forwarded", "host=evil.example")];
    for path in ["/docs", "/llms.txt", "/"] {
        let shown = text(get(&api, path, &claims).await);
        assert!(shown.contains(PUBLIC_URL) && !shown.contains("evil.example"), "{path}");
    }
}

#[actix_web::test]
async fn unconfigured_service_shows_the_address_of_the_request() {
    let api = Api::new().await.at("http://127.0.0.1:8080");
    let page = text(get(&api, "/docs", &[("Host", "nas.local:9090")]).await);
    assert!(page.contains("&quot;http://nas.local:9090/v1/search&quot;") && !page.contains("127.0.0.1:8080"));
    let links = get(&api, "/", &[("Host", "10.0.0.7:9090")]).await.json();
    assert_eq!(links["docs"], "http://10.0.0.7:9090/docs");
    assert!(text(get(&api, "/llms.txt", &[("Host", "localhost")]).await).contains("(http://localhost/docs)"));
    for hostile in [
        "\"><script>alert(1)</script>",
        "a' onclick='x",
        "$(id)",
        "`id`",
        "a b",
        "a\\b",
        "a/../b",
        "x@y",
        "evil.example",
        "6.6.6.6",
    ] {
        for path in ["/docs", "/llms.txt", "/"] {
            let shown = text(get(&api, path, &[("Host", hostile), ("X-Forwarded-Host", hostile)]).await);
            assert!(
                shown.contains("http://127.0.0.1:8080") && !shown.contains(&format!("http://{hostile}")),
                "{path} {hostile}"
            );
        }
    }
    // Each address has its own tag.
    let tag = |answer: &Answer| answer.header("ETag").unwrap().to_owned();
    let first = get(&api, "/docs", &[("Host", "a.local")]).await;
    let again = get(&api, "/docs", &[("Host", "a.local"), ("If-None-Match", &tag(&first))]).await;
    let other = get(&api, "/docs", &[("Host", "b.local"), ("If-None-Match", &tag(&first))]).await;
    assert_eq!((again.status, other.status), (304, 200));
}

#[actix_web::test]
async fn root_leads_browsers_to_the_reference_and_programs_to_its_files() {
    let api = Api::new().await;
    let redirect = get(&api, "/", &[("Accept", BROWSER)]).await;
    assert_eq!((redirect.status, redirect.header("Location")), (302, Some("/docs")));
    assert_eq!(redirect.header("Vary"), Some("accept"));
    for accept in ["*/*", "application/json", "application/json, text/html;q=0.5"] {
        let answer = get(&api, "/", &[("Accept", accept)]).await;
        assert_eq!((answer.status, answer.header("Content-Type")), (200, Some("application/json")), "{accept}");
        let links = answer.json();
        for name in ["docs", "console", "openapi", "llms"] {
            let path = links[name].as_str().unwrap().strip_prefix(PUBLIC_URL).unwrap();
            assert_eq!(get(&api, path, &[]).await.status, 200, "{name}");
        }
        assert_eq!(links["request_id"].as_str(), answer.header("X-Request-ID"));
    }
    let posted = api.send(TestRequest::post().uri("/")).await;
    posted.expect_error(405, "method_not_allowed");
    // A proxy that serves the API below a path.
    let below = Api::new().await.at("https://example.com/search/api");
    let redirect = get(&below, "/", &[("Accept", BROWSER)]).await;
    assert_eq!(redirect.header("Location"), Some("/search/api/docs"));
    let document = get(&below, "/openapi.json", &[]).await.json();
    assert_eq!(document["servers"][0]["url"], "/search/api");
    let created = below.post("/v1/research", &json!({"query": "x"})).await;
    let path = format!("/search/api/v1/research/{}", created.json()["research_id"].as_str().unwrap());
    assert_eq!(created.header("Location"), Some(path.as_str()));
}

/// Examples have the right fields and addresses; what they name does not exist.
#[actix_web::test]
async fn every_example_is_accepted() {
    let api = Api::new().await;
    for operation in operations::all() {
        for call in Call::of(operation) {
            let mut request = TestRequest::with_uri(&call.target).method(call.method.as_str().parse().unwrap());
            if let Some(mut body) = call.body.clone() {
                if let Some(id) = body.pointer_mut("/scope/workspace_id") {
                    *id = json!(api.tenant.organization_id.to_string());
                }
                request = request.insert_header(("Content-Type", "application/json")).set_payload(body.to_string());
            }
            let answer = api.send(api.authorized(request)).await;
            let code = if answer.status < 400 { Value::Null } else { answer.json()["error"]["code"].clone() };
            let is_accepted =
                answer.status < 300 || answer.status == 404 && code.as_str().is_some_and(|code| code != "not_found");
            assert!(is_accepted, "{} {}: {}", operation.id, call.summary, String::from_utf8_lossy(&answer.bytes));
        }
    }
}

#[actix_web::test]
async fn llms_txt_links_what_exists() {
    let api = Api::new().await;
    let answer = get(&api, "/llms.txt", &[]).await;
    assert_eq!(answer.header("Content-Type"), Some("text/markdown; charset=utf-8"));
    let listed = text(answer);
    let start = format!("({PUBLIC_URL}");
    let links = listed.split(start.as_str()).skip(1).map(|rest| rest.split([')', '#']).next().unwrap());
    let mut checked = 0;
    for path in links {
        let status = get(&api, path, &[]).await.status;
        // These two need a key or another method.
        let expected = if path == "/mcp" {
            405
        } else if path.starts_with("/read/") {
            401
        } else {
            200
        };
        assert_eq!(status, expected, "{path}");
        checked += 1;
    }
    assert!(checked > operations::all().count() + 8, "{checked} links");
}
