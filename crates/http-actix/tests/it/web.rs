use actix_web::test::TestRequest;
use api_types::validation::{MAX_PATTERNS, MAX_URLS};
use app::web_index::filling::{PROGRAM, WAYS};
use model::Scope;
use serde_json::{Value, json};
use test_support::page;

use crate::api::{Answer, Api};

const NAME: &str = "a/b ü";
const PATH: &str = "/v1/web/crawls/a%2Fb%20%C3%BC";

async fn delete(api: &Api, path: &str) -> Answer {
    api.send(api.authorized(TestRequest::delete().uri(path))).await
}

async fn refused(api: &Api, path: &str, body: &Value) -> String {
    let details = api.post(path, body).await.expect_error(400, "validation_error");
    details["field"].as_str().or(details["error"].as_str()).unwrap().to_owned()
}

#[actix_web::test]
async fn crawls_are_started_shown_stopped_and_removed() {
    let api = Api::new().await;
    assert_eq!(api.get("/v1/web/crawls").await.json()["crawls"], json!([]));
    let body = json!({
        "urls": ["https://Docs.example.com"], "name": NAME, "depth": 3, "limit": 50, "include": ["/docs/*"],
        "exclude": ["*.pdf"], "sitemaps": "only", "every_seconds": 3600,
    });
    let started = api.post("/v1/web/crawls", &body).await;
    assert_eq!(started.status, 202);
    let started = started.json();
    assert_eq!((&started["name"], &started["state"], &started["limit"]), (&json!(NAME), &json!("running"), &json!(50)));
    let settings = json!({
        "seeds": ["https://docs.example.com/"], "depth": 3, "include": ["/docs/*"], "exclude": ["*.pdf"],
        "sitemaps": "only", "every_seconds": 3600,
    });
    assert_eq!(started["settings"], settings);
    let shown = api.get(PATH).await.json();
    assert_eq!((&shown["crawl_id"], &shown["failed"]), (&started["crawl_id"], &json!(0)));
    assert_eq!(shown["failed_by_reason"], json!({}));
    assert_eq!(api.get("/v1/web/crawls").await.json()["crawls"][0]["crawl_id"], started["crawl_id"]);
    assert_eq!(api.post_raw(&format!("{PATH}/stop"), "").await.json()["state"], "stopped");
    delete(&api, &format!("{PATH}?pages=all")).await.expect_invalid("pages");
    let removed = delete(&api, &format!("{PATH}?pages=true")).await.json();
    assert_eq!(
        (&removed["removed"], &removed["pages_removed"], &removed["name"]),
        (&json!(true), &json!(true), &json!(NAME))
    );
    api.get(PATH).await.expect_error(404, "crawl_not_found");
    delete(&api, PATH).await.expect_error(404, "crawl_not_found");
    api.post_raw(&format!("{PATH}/stop"), "").await.expect_error(404, "crawl_not_found");
}

#[actix_web::test]
async fn invalid_crawls_are_refused_by_field() {
    let api = Api::new().await;
    let url = "https://docs.example.com/";
    for (body, field) in [
        (json!({}), "urls"),
        (json!({"urls": []}), "urls"),
        (json!({"urls": vec![url; MAX_URLS + 1]}), "urls"),
        (json!({"urls": [url, "docs"]}), "urls[1]"),
        (json!({"urls": ["ftp://docs.example.com/"]}), "urls[0]"),
        (json!({"urls": ["https://user:pw@docs.example.com/"]}), "urls[0]"),
        (json!({"urls": [url], "name": ""}), "name"),
        (json!({"urls": [url], "name": "a\u{7}"}), "name"),
        (json!({"urls": [url], "name": null}), "name"),
        (json!({"urls": [url], "depth": -1}), "depth"),
        (json!({"urls": [url], "limit": 0}), "limit"),
        (json!({"urls": [url], "include": ["docs"]}), "include[0]"),
        (json!({"urls": [url], "exclude": ["/a", "b"]}), "exclude[1]"),
        (json!({"urls": [url], "include": vec!["/a"; MAX_PATTERNS + 1]}), "include"),
        (json!({"urls": [url], "exclude": vec!["/a"; MAX_PATTERNS + 1]}), "exclude"),
        (json!({"urls": [url], "depth": 1_000_001}), "depth"),
        (json!({"urls": [url], "sitemaps": "all"}), "sitemaps"),
        (json!({"urls": [url], "every_seconds": 0}), "every_seconds"),
        (json!({"urls": [url], "every": "1d"}), "every"),
    ] {
        let named = refused(&api, "/v1/web/crawls", &body).await;
        assert!(named.contains(field), "{body}: {named}");
    }
    assert_eq!(api.get("/v1/web/crawls").await.json()["crawls"], json!([]));
    // The limits that the schema states are those of the use case.
    let urls: Vec<String> = (0..MAX_URLS).map(|at| format!("{url}{at}")).collect();
    let most = json!({"urls": urls, "include": vec!["/a"; MAX_PATTERNS], "depth": 1_000_000});
    assert_eq!(api.post("/v1/web/crawls", &most).await.status, 202);
}

#[actix_web::test]
async fn pages_are_listed_counted_refreshed_and_removed() {
    let api = Api::new().await;
    let urls = ["https://a.example/1", "https://a.example/2", "https://b.example/1"];
    api.world.import(urls.map(|url| page(url, "# Title\n\nA text."))).await;
    let first = api.get("/v1/web/pages?host=a.example&limit=1").await.json();
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = api.get(&format!("/v1/web/pages?host=a.example&limit=1&cursor={cursor}")).await.json();
    assert!(second.get("next_cursor").is_none());
    let mut listed = [&first, &second].map(|page| page["pages"][0]["url"].as_str().unwrap().to_owned());
    listed.sort();
    assert_eq!(listed, urls[..2]);
    assert_eq!(first["pages"][0]["title"], "Title");
    let stats = api.get("/v1/web/stats?limit=1").await.json();
    assert_eq!((&stats["pages"], &stats["hosts"]), (&json!(3), &json!(2)));
    assert_eq!(stats["largest_hosts"], json!([{"host": "a.example", "pages": 2}]));
    for (query, field) in [
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("host=a/b", "host"),
        ("prefix=a", "prefix"),
        ("cursor=a", "cursor"),
    ] {
        api.get(&format!("/v1/web/pages?{query}")).await.expect_invalid(field);
    }

    let refreshed = api.post("/v1/web/pages/refresh", &json!({"urls": [urls[0], "https://c.example/"]})).await.json();
    let expected = json!([{"url": urls[0], "queued": true}, {"url": "https://c.example/", "queued": false}]);
    assert_eq!(refreshed["results"], expected);
    for (body, field) in [(json!({"urls": []}), "urls"), (json!({"urls": [urls[0], "x"]}), "urls[1]")] {
        assert_eq!(refused(&api, "/v1/web/pages/refresh", &body).await, field);
    }

    let remove = async |body: Value| api.post("/v1/web/pages/remove", &body).await.json();
    assert_eq!(remove(json!({"url": urls[0]})).await["removed"], 1);
    assert_eq!(remove(json!({"url": urls[0]})).await["removed"], 0);
    let removed = remove(json!({"host": "a.example"})).await;
    assert_eq!((&removed["removed"], &removed["is_complete"]), (&json!(1), &json!(true)));
    assert_eq!(remove(json!({"prefix": "https://b.example/"})).await["removed"], 1);
    for (body, field) in [
        (json!({}), "url"),
        (json!({"url": urls[0], "host": "a.example"}), "host"),
        (json!({"host": "a.example", "prefix": "https://"}), "prefix"),
        (json!({"prefix": "a.example"}), "prefix"),
        (json!({"url": "a.example"}), "url"),
    ] {
        assert_eq!(refused(&api, "/v1/web/pages/remove", &body).await, field, "{body}");
    }
    assert_eq!(api.get("/v1/web/pages").await.json()["pages"], json!([]));
}

#[actix_web::test]
async fn web_index_is_managed_with_the_operators_scope_only() {
    let api = Api::new().await;
    let ordinary: Vec<Scope> = Scope::of_organizations().collect();
    let bearer = api.bearer_with(&ordinary).await;
    for request in [
        TestRequest::get().uri("/v1/web/crawls"),
        TestRequest::post().uri("/v1/web/crawls"),
        TestRequest::get().uri("/v1/web/crawls/x"),
        TestRequest::post().uri("/v1/web/crawls/x/stop"),
        TestRequest::delete().uri("/v1/web/crawls/x"),
        TestRequest::get().uri("/v1/web/pages"),
        TestRequest::get().uri("/v1/web/stats"),
        TestRequest::post().uri("/v1/web/pages/remove"),
        TestRequest::post().uri("/v1/web/pages/refresh"),
    ] {
        let answer = api.send(request.insert_header(("Authorization", bearer.as_str()))).await;
        assert_eq!(answer.expect_error(403, "insufficient_scope")["scope"], "web:manage");
    }
    // Not even the operator's key passes the scope on.
    let details = api.post("/v1/keys", &json!({"name": "a", "scopes": ["web:manage"]})).await;
    assert_eq!(details.expect_error(400, "validation_error")["field"], "scopes[0]");
    let created = api.post("/v1/keys", &json!({"name": "a"})).await.json();
    assert!(!created["scopes"].as_array().unwrap().contains(&json!("web:manage")), "{created}");
}

#[actix_web::test]
async fn empty_web_index_is_announced_with_commands() {
    let api = Api::new().await;
    assert_eq!(api.get("/v1/me").await.json()["web"], json!({"index_empty": true, "has_providers": false}));
    let docs = api.send(TestRequest::get().uri("/docs")).await;
    assert_eq!(docs.header("Cache-Control"), Some("no-cache"));
    let page = String::from_utf8(docs.bytes).unwrap();
    assert!(page.contains("The web index is empty"));
    let start = console::files().find(|file| file.path == "parts/filling.js").unwrap().text;
    for way in WAYS {
        let command = way.command(PROGRAM);
        assert!(page.contains(&command), "{command}");
        assert!(start.contains(&format!("\"{command}\"")), "the console has the same: {command}");
    }
}

#[actix_web::test]
async fn filled_web_index_is_not_announced() {
    let api = Api::new().await;
    api.world.import([page("https://a.example/", "A text.")]).await;
    assert_eq!(api.get("/v1/me").await.json()["web"]["index_empty"], false);
    let docs = api.send(TestRequest::get().uri("/docs")).await;
    assert!(!String::from_utf8_lossy(&docs.bytes).contains("The web index is empty"));
    assert_eq!(docs.header("Cache-Control"), Some("public, max-age=3600"));
}
