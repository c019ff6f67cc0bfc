use actix_web::test::TestRequest;
use openapi::operations;
use serde_json::{Value, json};
use test_support::page;

use crate::api::{Api, PUBLIC_URL};
use crate::{contract, table};

#[actix_web::test]
async fn every_operation_of_the_table_is_routed_with_its_scope() {
    let api = Api::new().await;
    let without_scopes = api.bearer_with(&[]).await;
    let mut routes = Vec::new();
    for operation in operations::all() {
        let (method, path) = (operation.method.as_str(), table::path(operation));
        assert_eq!(contract::operation(method, &path).map(|found| found.id), Some(operation.id));
        let ask = || TestRequest::with_uri(&path).method(method.parse().unwrap());
        api.send(ask()).await.expect_error(401, "missing_api_key");
        let answer = api.send(ask().insert_header(("Authorization", without_scopes.as_str()))).await;
        let Some(scope) = operation.scope else {
            assert_eq!(answer.status, 200, "{}", operation.id);
            routes.push((operation.route.to_owned(), 200));
            continue;
        };
        let details = answer.expect_error(403, "insufficient_scope");
        assert_eq!(details["scope"], scope.as_str(), "{}", operation.id);
        routes.push((operation.route.to_owned(), 403));
    }
    assert_eq!(api.recorded().await, routes);
}

#[actix_web::test]
async fn the_document_is_served_as_it_is_committed() {
    let api = Api::new().await;
    let answer = api.send(TestRequest::get().uri("/openapi/public.json")).await;
    assert_eq!((answer.status, answer.header("Content-Type")), (200, Some("application/json")));
    assert_eq!(answer.json(), openapi::document());
    let committed: Value = serde_json::from_str(include_str!("../../../../docs/openapi.json")).unwrap();
    assert_eq!(answer.json(), committed, "run `cargo xtask schema --write`");
    assert_eq!((&committed["openapi"], &committed["info"]["version"]), (&json!("3.1.0"), &json!("0.1.0")));
}

#[actix_web::test]
async fn examples_of_rejections_are_what_the_server_answers() {
    let api = Api::new().await;
    let mut wrong = Vec::new();
    for operation in operations::all() {
        let (path, body) = match operation.id {
            "search" => ("/v1/search", json!({"query": "x", "max_results": 51})),
            "readDocument" => ("/v1/document", json!({})),
            "readDocuments" => ("/v1/documents", json!({"documents": []})),
            "getSearch" => (&*format!("/v1/searches/{}", "x".repeat(129)), Value::Null),
            "verifyCitations" => (
                "/v1/citations/verify",
                json!({"citations": [
                    {"doc_id": "0190a6d2-6a60-7b11-9c2f-2a8d6e4f7b90", "quote": "x", "char_start": 40, "char_end": 12},
                ]}),
            ),
            "createResearch" => ("/v1/research", json!({"query": "x", "budget": {"max_seconds": 0}})),
            "listResearch" => ("/v1/research?limit=0", Value::Null),
            "getResearch" => ("/v1/research/x?wait_seconds=31", Value::Null),
            "listResearchEvents" => ("/v1/research/x/events?limit=0", Value::Null),
            "cancelResearch" => (&*format!("/v1/research/{}/cancel", "x".repeat(129)), Value::Null),
            "deleteResearch" => (&*format!("/v1/research/{}", "x".repeat(129)), Value::Null),
            "submitFeedback" => ("/v1/feedback", json!({})),
            "presignFile" => ("/v1/files/presign", json!({"filename": "report.pdf"})),
            "listFiles" => ("/v1/files?limit=0", Value::Null),
            "getFile" => (&*format!("/v1/files/{}.pdf", "x".repeat(512)), Value::Null),
            "getFileContent" => (&*format!("/v1/files/{}.pdf/content", "x".repeat(512)), Value::Null),
            "deleteFile" => (&*format!("/v1/files/{}.pdf", "x".repeat(512)), Value::Null),
            "startIndexRun" => ("/v1/files/index", json!({"mode": "all"})),
            "getIndexRun" => (&*format!("/v1/files/index/{}", "x".repeat(129)), Value::Null),
            "listIndexRunFiles" => ("/v1/files/index/x/files?limit=0", Value::Null),
            "listKeys" => ("/v1/keys?page=2", Value::Null),
            "createKey" => ("/v1/keys", json!({"name": "sync", "limit_rps": 0})),
            "revokeKey" => (&*format!("/v1/keys/{}", "x".repeat(129)), Value::Null),
            "getUsage" => ("/v1/usage?interval=week", Value::Null),
            "listWebhooks" => ("/v1/webhooks?page=2", Value::Null),
            "createWebhook" => ("/v1/webhooks", json!({"url": "nowhere", "event_types": ["run.completed"]})),
            "rotateWebhookSecret" => (&*format!("/v1/webhooks/{}/rotate", "x".repeat(129)), Value::Null),
            "deleteWebhook" => (&*format!("/v1/webhooks/{}", "x".repeat(129)), Value::Null),
            "listCrawls" => ("/v1/web/crawls?page=2", Value::Null),
            "startCrawl" => ("/v1/web/crawls", json!({"urls": ["docs.example.com"]})),
            "getCrawl" => (&*format!("/v1/web/crawls/{}", "x".repeat(201)), Value::Null),
            "stopCrawl" => (&*format!("/v1/web/crawls/{}/stop", "x".repeat(201)), Value::Null),
            "deleteCrawl" => ("/v1/web/crawls/x?pages=all", Value::Null),
            "listWebPages" => ("/v1/web/pages?prefix=docs", Value::Null),
            "getWebStats" => ("/v1/web/stats?limit=0", Value::Null),
            "removeWebPages" => ("/v1/web/pages/remove", json!({})),
            "refreshWebPages" => ("/v1/web/pages/refresh", json!({"urls": []})),
            "getMe" => ("/v1/me?page=2", Value::Null),
            other => panic!("no rejected request of {other}"),
        };
        let request = TestRequest::with_uri(path).method(operation.method.as_str().parse().unwrap());
        let answer = api.send(api.authorized(request).set_payload(body.to_string())).await;
        let error = &answer.json()["error"];
        assert_eq!((answer.status, &error["code"]), (400, &json!("validation_error")), "{}", operation.id);
        let given = (error["details"]["field"].as_str(), error["message"].as_str());
        if given != (Some(operation.invalid.field), Some(operation.invalid.message)) {
            wrong.push(format!("{}: {given:?}", operation.id));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[actix_web::test]
async fn what_a_client_has_is_not_sent_again() {
    let api = Api::new().await;
    // While the web index is empty, `/docs` says so and is not kept.
    api.world.import([page("https://a.example/", "A text.")]).await;
    let paths =
        ["/openapi/public.json", "/openapi.json", "/docs", "/docs/reference.css", "/docs/reference.js", "/llms.txt"];
    for path in paths.into_iter().chain(["/schemas/SearchRequest.json"]) {
        let first = api.send(TestRequest::get().uri(path)).await;
        assert_eq!(first.header("Cache-Control"), Some("public, max-age=3600"), "{path}");
        let tag = first.header("ETag").unwrap().to_owned();
        for known in [tag.clone(), format!("\"other\", {tag}"), "*".to_owned()] {
            let again = api.send(TestRequest::get().uri(path).insert_header(("If-None-Match", known.as_str()))).await;
            assert_eq!((again.status, again.bytes.len()), (304, 0), "{path} {known}");
            assert_eq!(again.header("ETag"), Some(tag.as_str()));
        }
        let other = api.send(TestRequest::get().uri(path).insert_header(("If-None-Match", "\"other\""))).await;
        assert_eq!((other.status, other.bytes == first.bytes), (200, true), "{path}");
        let post = api.send(TestRequest::post().uri(path)).await;
        post.expect_error(405, "method_not_allowed");
        assert_eq!(post.header("Allow"), Some("GET, HEAD"));
    }
    api.send(TestRequest::get().uri("/openapi/public.json?x=1")).await.expect_error(400, "validation_error");
}

#[actix_web::test]
async fn schemas_name_themselves_as_answers_name_them() {
    let api = Api::new().await;
    let schema = api.send(TestRequest::get().uri("/schemas/SearchResponse.json")).await.json();
    assert_eq!(schema["$id"], format!("{PUBLIC_URL}/schemas/SearchResponse.json"));
    let answer = api.search(json!({"query": "x"})).await;
    assert_eq!(answer.json()["$schema"], schema["$id"]);
    let link = format!("<{PUBLIC_URL}/schemas/SearchResponse.json>; rel=\"describedby\"");
    assert_eq!(answer.header("Link"), Some(link.as_str()));
    let refused = api.send(TestRequest::post().uri("/v1/search")).await;
    let link = format!("<{PUBLIC_URL}/schemas/ErrorEnvelope.json>; rel=\"describedby\"");
    assert_eq!(refused.header("Link"), Some(link.as_str()));
}
