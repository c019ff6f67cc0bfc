use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::page;
use test_support::site::{Page, Site};
use time::macros::datetime;

use super::{api_with_result, ok};
use crate::api::{Api, NOW};
use crate::corpus::{QUERY, web_page};

const SEARCH: &str = "/compat/tavily/search";
const EXTRACT: &str = "/compat/tavily/extract";

#[actix_web::test]
async fn a_search_has_all_fields_of_the_original() {
    let api = Api::new().await.with_pages(8).await;
    let answer = api.post(SEARCH, &json!({"query": QUERY, "include_answer": false, "include_images": true})).await;
    let body = ok(&answer);
    assert_eq!((&body["query"], &body["answer"], &body["images"]), (&json!(QUERY), &Value::Null, &json!([])));
    assert_eq!(body["request_id"].as_str(), answer.header("X-Request-ID"));
    assert!(body["response_time"].is_f64() && body.get("usage").is_none());
    let results = body["results"].as_array().unwrap();
    assert_eq!(results.len(), 5, "the default of the original");
    for hit in results {
        assert!(hit["url"].as_str().unwrap().starts_with("https://example.com/"));
        assert!(hit["title"].as_str().unwrap().starts_with("Title"));
        assert!(hit["content"].as_str().unwrap().contains(QUERY) && hit["score"].is_f64());
        assert_eq!(hit["raw_content"], Value::Null);
    }
}

#[actix_web::test]
async fn depth_decides_the_number_of_chunks() {
    let api = Api::new().await.with_pages(1).await;
    for (depth, chunks, expected) in [("basic", 3, 1), ("advanced", 2, 2), ("advanced", 9, 3)] {
        let body = json!({"query": QUERY, "search_depth": depth, "chunks_per_source": chunks});
        let body = ok(&api.post(SEARCH, &body).await);
        let content = body["results"][0]["content"].as_str().unwrap();
        assert_eq!(content.split("[...]").count(), expected, "{depth}: {content}");
    }
}

#[actix_web::test]
async fn raw_content_is_the_document() {
    let api = Api::new().await.with_pages(2).await;
    let body = json!({"query": QUERY, "max_results": 1, "include_raw_content": "markdown", "include_usage": true});
    let body = ok(&api.post(SEARCH, &body).await);
    assert!(body["results"][0]["raw_content"].as_str().unwrap().contains("## Überschrift"));
    assert_eq!((body["results"].as_array().unwrap().len(), &body["usage"]["credits"]), (1, &json!(1)));
    let body = ok(&api.post(SEARCH, &json!({"query": QUERY, "include_raw_content": "text"})).await);
    assert!(!body["results"][0]["raw_content"].as_str().unwrap().contains('#'));
}

#[actix_web::test]
async fn filters_hold() {
    let api = Api::new().await;
    let dated = |url: &str, days: i64| app::web::WebPage {
        published_at: Some(app::clock::from_date_time(NOW - time::Duration::days(days))),
        ..page(url, &format!("The tides of the moon, as seen {days} days ago."))
    };
    let unknown = page("https://b.example/undated", "The tides of the sun and the moon.");
    api.world.import([dated("https://a.example/3", 3), dated("https://b.example/40", 40), unknown]).await;
    let all = ["https://a.example/3", "https://b.example/40", "https://b.example/undated"];
    for (filter, expected) in [
        (json!({}), &all[..]),
        (json!({"time_range": "week"}), &all[..1]),
        (json!({"time_range": "y"}), &all[..2]),
        (json!({"days": 30, "topic": "news"}), &all[..1]),
        (json!({"start_date": "2026-05-01"}), &all[..2]),
        (json!({"end_date": "2026-05-20"}), &all[1..2]),
        (json!({"start_date": "2026-05-10", "end_date": "2026-06-12"}), &all[..1]),
        (json!({"include_domains": ["b.example"]}), &all[1..]),
        (json!({"include_domains": ["https://b.example/"], "include_domains_mode": "prefer"}), &all[..]),
        (json!({"exclude_domains": ["b.example"]}), &all[..1]),
        (json!({"query": "tides \"sun and the moon\"", "exact_match": true}), &all[2..]),
    ] {
        let mut body = json!({"query": QUERY});
        body.as_object_mut().unwrap().extend(filter.as_object().unwrap().clone());
        let found = ok(&api.post(SEARCH, &body).await);
        let mut urls: Vec<_> = found["results"].as_array().unwrap().iter().map(|hit| hit["url"].clone()).collect();
        urls.sort_by_key(Value::to_string);
        assert_eq!(urls, expected, "{filter}");
    }
}

#[actix_web::test]
async fn what_cannot_be_honoured_is_refused_in_the_format_of_the_original() {
    let api = Api::new().await;
    for (path, body, word) in [
        (SEARCH, json!({"query": "x", "include_answer": "advanced"}), "include_answer"),
        (SEARCH, json!({"query": "x", "include_raw_content": "html"}), "include_raw_content"),
        (SEARCH, json!({"query": "x", "time_range": "decade"}), "time_range"),
        (SEARCH, json!({"query": "x", "end_date": "soon"}), "end_date"),
        (SEARCH, json!({"query": "x", "include_domains": ["a b"]}), "include_domains[0]"),
        (SEARCH, json!({"query": "\"a\" \"b\"", "exact_match": true}), "exact_match"),
        (SEARCH, json!({"query": ""}), "query"),
        (SEARCH, json!({"query": "x".repeat(9_000)}), "query"),
        (SEARCH, json!({}), "query"),
        (EXTRACT, json!({"urls": []}), "urls"),
        (EXTRACT, json!({"urls": vec!["https://example.com/"; 21]}), "urls"),
        (EXTRACT, json!({"urls": "https://example.com/", "format": "html"}), "format"),
    ] {
        let answer = api.post(path, &body).await;
        let error = answer.json()["detail"]["error"].as_str().unwrap().to_owned();
        assert_eq!((answer.status, error.contains(word)), (400, true), "{body:.80}: {error}");
        assert!(!error.contains("source_policy"), "{error}");
    }
    assert_eq!(api.searches(), 0);
}

#[actix_web::test]
async fn pages_are_extracted_and_failures_named() {
    let (api, site) = (Api::new().await, Site::start());
    let good = site.put("/a", Page::html("<h1>Tides</h1><p>The moon moves the tides, twice a day, everywhere.</p>"));
    let bad = site.url("/missing");
    let body = ok(&api.post(EXTRACT, &json!({"urls": [good, bad, "not a url"]})).await);
    let results = body["results"].as_array().unwrap();
    assert_eq!((results.len(), &results[0]["url"], &results[0]["images"]), (1, &json!(good), &json!([])));
    assert!(results[0]["raw_content"].as_str().unwrap().contains("moon"));
    let failed = body["failed_results"].as_array().unwrap();
    assert_eq!((&failed[0]["url"], &failed[1]["url"]), (&json!(bad), &json!("not a url")));
    assert!(failed[0]["error"].as_str().unwrap().contains("404"), "{failed:?}");
}

#[actix_web::test]
async fn slow_pages_leave_time_for_the_answer() {
    let (api, site) = (Api::new().await, Site::start());
    let stored = "https://example.com/stored";
    api.world.import_one(page(stored, "A text that is stored.")).await;
    site.hold();
    // More than are read at the same time.
    let silent: Vec<String> = (0..9).map(|n| site.url(&format!("/{n}"))).collect();
    let urls: Vec<&str> = silent.iter().map(String::as_str).chain([stored]).collect();
    let started = Instant::now();
    let answer = api.post(EXTRACT, &json!({"urls": urls, "timeout": 2})).await;
    let elapsed = started.elapsed();
    site.release();
    assert!(elapsed < Duration::from_secs(2), "the client has left: {elapsed:?}");
    let body = ok(&answer);
    let failed: Vec<&str> =
        body["failed_results"].as_array().unwrap().iter().map(|failed| failed["url"].as_str().unwrap()).collect();
    assert_eq!(failed, silent, "{body}");
    let results = body["results"].as_array().unwrap();
    assert_eq!((results.len(), &results[0]["url"]), (1, &json!(stored)), "{body}");
    assert!(results[0]["raw_content"].as_str().unwrap().contains("stored"), "{body}");
}

#[actix_web::test]
async fn chunks_are_of_the_page_and_not_of_a_search_result() {
    let site = Site::start();
    let url = site.put("/a", Page::html("<h1>Tides</h1><p>The moon moves the tides, twice a day, everywhere.</p>"));
    let api = api_with_result(&url).await;
    ok(&api.post(SEARCH, &json!({"query": QUERY})).await);
    let body = ok(&api.post(EXTRACT, &json!({"urls": [url], "query": "moon"})).await);
    let content = body["results"][0]["raw_content"].as_str().unwrap();
    assert!(content.contains("twice a day"), "{content}");
}

#[actix_web::test]
async fn bounds_of_a_day_include_the_whole_day() {
    let api = Api::new().await;
    let published_at = Some(app::clock::from_date_time(datetime!(2026-03-01 0:00 UTC)));
    let text = "The tides of the moon.";
    api.world.import_one(app::web::WebPage { published_at, ..page("https://a.example/day", text) }).await;
    for (day, count) in [("2026-02-28", 0), ("2026-03-01", 1), ("2026-03-02", 0)] {
        let body = json!({"query": QUERY, "start_date": day, "end_date": day});
        let found = ok(&api.post(SEARCH, &body).await);
        assert_eq!(found["results"].as_array().unwrap().len(), count, "{day}");
    }
}

#[actix_web::test]
async fn a_query_selects_chunks() {
    let api = Api::new().await;
    api.world.import_one(web_page(1)).await;
    let body = json!({"urls": "https://example.com/1", "query": "moon", "chunks_per_source": 1});
    let body = ok(&api.post(EXTRACT, &body).await);
    let content = body["results"][0]["raw_content"].as_str().unwrap();
    assert!(content.contains("moon") && !content.contains("Passage 0"), "{content}");
}
