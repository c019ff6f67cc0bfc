use serde_json::json;

use super::ok;
use crate::api::Api;
use crate::corpus::QUERY;

#[actix_web::test]
async fn a_search_has_all_fields_of_the_original() {
    let api = Api::new().await.with_pages(3).await;
    for path in ["/compat/searxng/search", "/compat/searxng", "/compat/searxng/"] {
        let query = "q=naive+tides%20moon&format=json&language=en-US&safesearch=1&time_range=&categories=&theme=simple";
        let body = ok(&api.get(&format!("{path}?{query}")).await);
        assert_eq!((&body["query"], &body["number_of_results"]), (&json!("naive tides moon"), &json!(3)));
        for list in ["answers", "corrections", "infoboxes", "suggestions", "unresponsive_engines"] {
            assert_eq!(body[list], json!([]));
        }
        let first = &body["results"][0];
        assert!(first["content"].as_str().unwrap().contains(QUERY) && first["url"].is_string());
        assert_eq!((&first["engines"], &first["positions"]), (&json!(["retrieval"]), &json!([1])));
        assert!(first["title"].is_string() && first["score"].is_f64() && first["category"] == "general");
    }
}

#[actix_web::test]
async fn pages_of_results_follow_each_other() {
    let api = Api::new().await.with_pages(23).await;
    let mut seen = Vec::new();
    for (page, count) in [(1, 10), (2, 10), (3, 3), (4, 0), (9_999_999, 0)] {
        let body = ok(&api.get(&format!("/compat/searxng/search?q=tides&format=json&pageno={page}")).await);
        let results = body["results"].as_array().unwrap();
        assert_eq!(results.len(), count, "page {page}");
        seen.extend(results.iter().map(|hit| hit["url"].to_string()));
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 23);
}

#[actix_web::test]
async fn errors_are_in_the_format_of_the_original() {
    let api = Api::new().await;
    for (query, word) in [
        ("q=x", "format"),
        ("q=x&format=html", "format"),
        ("format=json", "q must have"),
        ("q=&format=json", "q must have"),
        ("q=x&format=json&pageno=0", "pageno"),
        ("q=x&format=json&time_range=decade", "time_range"),
        ("q=x&format=json&categories=images,videos", "categories"),
        ("q=%ff&format=json", "UTF-8"),
    ] {
        let answer = api.get(&format!("/compat/searxng/search?{query}")).await;
        let error = answer.json()["error"].as_str().unwrap().to_owned();
        assert_eq!((answer.status, error.contains(word)), (400, true), "{query}: {error}");
    }
    assert_eq!(api.searches(), 0);
    let answer = api.get("/compat/searxng/search?q=x&format=json&categories=general,images&q=tides").await;
    assert_eq!(ok(&answer)["query"], "tides");
}
