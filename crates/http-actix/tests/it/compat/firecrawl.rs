use std::time::Duration;

use serde_json::json;
use test_support::site::{Page, Site};

use super::{in_time, ok};
use crate::api::Api;
use crate::corpus::QUERY;

const SEARCH: &str = "/compat/firecrawl/v2/search";
const SCRAPE: &str = "/compat/firecrawl/v2/scrape";

#[actix_web::test]
async fn a_search_returns_links_or_documents() {
    let api = Api::new().await.with_pages(8).await;
    // The synchronous Python client drops the path of its base URL.
    for path in [SEARCH, "/v2/search"] {
        let body = ok(&api.post(path, &json!({"query": QUERY, "sources": [{"type": "web"}]})).await);
        let web = body["data"]["web"].as_array().unwrap();
        assert_eq!((&body["success"], web.len(), &web[4]["position"]), (&json!(true), 5, &json!(5)));
        assert!(web[0]["description"].as_str().unwrap().contains(QUERY) && web[0].get("markdown").is_none());
    }
    let options = json!({"formats": [{"type": "markdown"}], "onlyMainContent": true});
    let body = ok(&api.post(SEARCH, &json!({"query": QUERY, "limit": 1, "scrapeOptions": options})).await);
    let document = &body["data"]["web"][0];
    assert!(document["markdown"].as_str().unwrap().contains("# Root"));
    assert_eq!(
        (&document["metadata"]["statusCode"], &document["metadata"]["sourceURL"]),
        (&json!(200), &document["url"])
    );
}

#[actix_web::test]
async fn a_page_is_scraped() {
    let (api, site) = (Api::new().await, Site::start());
    let url = site.put("/a?x=1", Page::html("<h1>Tides</h1><p>The moon moves the tides, twice a day, everywhere.</p>"));
    for path in [SCRAPE, "/v2/scrape"] {
        let body = ok(&api.post(path, &json!({"url": url, "timeout": 1000, "origin": "test"})).await);
        assert!(body["data"]["markdown"].as_str().unwrap().contains("moon"));
        let metadata = &body["data"]["metadata"];
        assert_eq!((&metadata["sourceURL"], &metadata["statusCode"]), (&json!(url), &json!(200)), "{metadata}");
        assert!(metadata["cachedAt"].is_string() && metadata["scrapeId"].is_string());
    }
}

#[actix_web::test]
async fn failures_are_in_the_format_of_the_original() {
    let (api, site) = (Api::new().await, Site::start());
    let url = site.url("/missing");
    for (path, body, status, word) in [
        (SCRAPE, json!({"url": url}), 404, "404"),
        (SCRAPE, json!({"url": "http://10.0.0.1/"}), 422, "reached"),
        (SCRAPE, json!({"url": "ftp://example.com/"}), 400, ""),
        (SCRAPE, json!({"url": ""}), 400, "url"),
        (SCRAPE, json!({"url": url, "formats": ["markdown", "screenshot"]}), 400, "screenshot"),
        (SCRAPE, json!({"url": url, "actions": [{"type": "wait"}]}), 400, "actions"),
        (SCRAPE, json!({"url": url, "headers": {"Cookie": "x"}}), 400, "headers"),
        (SEARCH, json!({"query": "x", "sources": ["images"]}), 400, "images"),
        (SEARCH, json!({"query": "x", "tbs": "sbd:1"}), 400, "sbd"),
        (SEARCH, json!({"query": "x", "categories": ["pdf"]}), 400, "categories"),
        (SEARCH, json!({"query": "x", "includeDomains": ["a b"]}), 400, "includeDomains[0]"),
        (SEARCH, json!({"query": "x", "scrapeOptions": {"formats": ["html"]}}), 400, "html"),
    ] {
        let answer = api.post(path, &body).await;
        let error = answer.json();
        assert_eq!((answer.status, &error["success"]), (status, &json!(false)), "{body}: {error}");
        assert!(error["error"].as_str().unwrap().contains(word) && error["code"].is_string(), "{error}");
    }
}

#[actix_web::test]
async fn content_older_than_asked_is_an_error() {
    let (api, site) = (in_time().await, Site::start());
    let url = site.put("/a", Page::html("<h1>Tides</h1><p>The moon moves the tides, twice a day, everywhere.</p>"));
    assert_eq!(api.post(SCRAPE, &json!({"url": url, "maxAge": 0})).await.status, 200, "just read");
    api.world.clock.advance(Duration::from_hours(3));
    site.put("/a", Page::status(500));
    for (hours, status) in [(2, 422), (4, 200)] {
        let answer = api.post(SCRAPE, &json!({"url": url, "maxAge": hours * 3_600_000})).await;
        assert_eq!(answer.status, status, "{}", answer.json());
    }
    site.put("/a", Page::html("<h1>Tides</h1><p>The sun helps the moon a little, which few people know.</p>"));
    let answer = api.post(SCRAPE, &json!({"url": url, "maxAge": 0})).await.json();
    assert!(answer["data"]["markdown"].as_str().unwrap().contains("sun"), "read again: {answer}");
    let unknown = site.put("/b", Page::html("<p>Never read.</p>"));
    let answer = api.post(SCRAPE, &json!({"url": unknown, "lockdown": true})).await;
    assert_eq!((answer.status, site.hits("/b")), (422, 0), "{}", answer.json());
}

#[actix_web::test]
async fn files_are_never_too_old() {
    let api = in_time().await.with_files(&["notes.txt"]).await;
    api.world.clock.advance(Duration::from_hours(100));
    let options = json!({"formats": ["markdown"], "maxAge": 3_600_000});
    let body = ok(&api.post(SEARCH, &json!({"query": QUERY, "scrapeOptions": options})).await);
    assert!(body["data"]["web"][0]["markdown"].as_str().unwrap().contains("Paragraph 0"), "{body}");
}
