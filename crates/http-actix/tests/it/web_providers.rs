use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use test_support::{Setup, TestProvider, found, page};
use web_providers::ProviderError;

use crate::api::Api;
use crate::compat;

const GUIDE: &str = "https://tides.example/guide";

async fn api(provider: &Arc<TestProvider>, index: bool) -> Api {
    let web = if index { provider.with_index() } else { provider.alone() };
    Api::with(Setup { web, ..Setup::default() }).await
}

/// An API without an index, whose provider finds one page.
async fn api_without_index() -> Api {
    let provider = TestProvider::with([found(GUIDE, "Guide", "The spring tides.")]);
    Api::with(Setup { retrieval: false, web: provider.with_index(), ..Setup::default() }).await
}

#[actix_web::test]
async fn results_of_providers_are_web_results() {
    let provider = TestProvider::with([found(GUIDE, "Guide", "The spring tides.")]);
    let api = api(&provider, true).await;
    let answer = api.search(json!({"query": "tides", "response": {"verbosity": "full"}})).await.json();
    let hit = &answer["results"][0];
    assert_eq!((&hit["canonical_url"], &hit["index"]), (&json!(GUIDE), &json!("web")));
    let passage = &hit["passages"][0];
    assert_eq!(passage["text"], "The spring tides.");
    assert_eq!((passage.get("char_start"), passage.get("char_end")), (None, None), "the content is not known");
    assert_eq!(answer["warnings"], json!(null));
    let body = json!({"doc_id": hit["doc_id"], "content": {"selection": "top_passages"}});
    let read = api.post("/v1/document", &body).await.json();
    assert_eq!(read["capture_history"][0]["content_format"], "text");
    assert_eq!(read["provenance"]["capture_id"], hit["provenance"]["capture_id"]);
}

#[actix_web::test]
async fn missing_results_are_a_warning() {
    let provider = TestProvider::named("brave");
    provider.set(Err(ProviderError::RateLimited { retry_after: Some(Duration::from_secs(9)) }));
    let api = api(&provider, true).await;
    api.world.import_one(page("https://a.example/", "The tides.")).await;
    let answer = api.search(json!({"query": "tides", "response": {"verbosity": "ids_only"}})).await;
    assert_eq!(answer.status, 200);
    let answer = answer.json();
    assert_eq!(answer["results"].as_array().unwrap().len(), 1);
    let details = json!({"provider": "brave", "reason": "rate_limited"});
    let warning = &answer["warnings"][0];
    assert_eq!((&warning["code"], &warning["details"]), (&json!("web_provider_unavailable"), &details));
}

#[actix_web::test]
async fn search_without_another_source_is_a_bad_gateway() {
    let provider = TestProvider::named("searxng");
    provider.set(Err(ProviderError::Status(500)));
    let api = api(&provider, false).await;
    let answer = api.search(json!({"query": "tides"})).await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (502, &json!("provider_unavailable")));
}

#[actix_web::test]
async fn provider_answers_every_service_without_an_index() {
    let api = api_without_index().await;
    for (path, body) in compat::searches() {
        let answer = compat::send(&api, path, &body).await;
        let text = String::from_utf8_lossy(&answer.bytes).into_owned();
        assert!(answer.status == 200 && text.contains(GUIDE), "{path}: {text}");
    }
    let call = json!({"name": "search", "arguments": {"query": "tides"}});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call});
    let answer = api.post("/mcp?profile=connector", &message).await.json();
    assert_eq!(answer["result"]["structuredContent"]["results"][0]["url"], GUIDE, "{answer}");
}

#[actix_web::test]
async fn files_are_not_searched_without_an_index() {
    let api = api_without_index().await;
    let scope = json!({"indexes": ["web", "workspace"], "workspace_id": api.tenant.viewer.organization_id.0});
    let request = json!({"query": "tides", "scope": scope});
    for path in ["/v1/search", "/v1/research"] {
        api.post(path, &request).await.expect_error(503, "provider_unavailable");
    }
    assert_eq!(api.post("/v1/research", &json!({"query": "tides"})).await.status, 202);
}
