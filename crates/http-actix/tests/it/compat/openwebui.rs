use serde_json::json;
use test_support::site::{Page, Site};

use super::ok;
use crate::api::Api;
use crate::corpus::QUERY;

#[actix_web::test]
async fn a_search_returns_a_bare_list_of_links() {
    let api = Api::new().await.with_pages(4).await;
    let body = ok(&api.post("/compat/openwebui/search", &json!({"query": QUERY, "count": 3})).await);
    let results = body.as_array().unwrap();
    assert_eq!(results.len(), 3);
    for hit in results {
        assert!(hit["link"].as_str().unwrap().starts_with("https://example.com/") && hit["title"].is_string());
        assert!(hit["snippet"].as_str().unwrap().contains("Passage 1"), "the passages: {hit}");
    }
}

#[actix_web::test]
async fn pages_are_loaded_and_unreadable_ones_left_out() {
    let (api, site) = (Api::new().await, Site::start());
    let good = site.put("/a", Page::html("<h1>Tides</h1><p>The moon moves the tides, twice a day, everywhere.</p>"));
    let body = json!({"urls": [site.url("/missing"), good, "x"]});
    let body = ok(&api.post("/compat/openwebui/load", &body).await);
    let [loaded] = &body.as_array().unwrap()[..] else { panic!("{body}") };
    assert!(loaded["page_content"].as_str().unwrap().contains("moon"));
    assert_eq!(loaded["metadata"]["source"], json!(good));
}

#[actix_web::test]
async fn errors_are_in_the_format_of_the_original() {
    let api = Api::new().await;
    let many = vec!["https://example.com/"; 21];
    for (path, body) in [
        ("/compat/openwebui/search", json!({"count": 3})),
        ("/compat/openwebui/search", json!({"query": ""})),
        ("/compat/openwebui/load", json!({"urls": []})),
        ("/compat/openwebui/load", json!({"urls": many})),
    ] {
        let answer = api.post(path, &body).await;
        assert_eq!((answer.status, answer.json()["detail"].is_string()), (400, true), "{}", answer.json());
    }
}
