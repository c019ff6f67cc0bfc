use std::time::Duration;

use serde_json::{Value, json};
use test_support::page;
use test_support::site::{Page, Site};

use super::{api_with_result, in_time, ok};
use crate::api::{Api, NOW};
use crate::corpus::QUERY;

const SEARCH: &str = "/compat/exa/search";
const CONTENTS: &str = "/compat/exa/contents";

#[actix_web::test]
async fn a_search_returns_links_or_contents() {
    let api = Api::new().await.with_pages(3).await;
    let answer = api.post(SEARCH, &json!({"query": QUERY, "numResults": 2, "type": "neural"})).await;
    let body = ok(&answer);
    assert_eq!(body["requestId"].as_str(), answer.header("X-Request-ID"));
    let [first, _] = &body["results"].as_array().unwrap()[..] else { panic!("{body}") };
    assert_eq!(first["id"], first["url"]);
    assert!(first["score"].is_f64() && first.get("text").is_none() && first.get("highlights").is_none());

    let contents = json!({"text": {"maxCharacters": 20}, "highlights": {"highlightsPerUrl": 1}});
    let body = ok(&api.post(SEARCH, &json!({"query": QUERY, "contents": contents})).await);
    for hit in body["results"].as_array().unwrap() {
        assert_eq!(hit["text"].as_str().unwrap().chars().count(), 20);
        assert_eq!(hit["highlights"].as_array().unwrap().len(), 1);
    }
    let contents = json!({"highlights": {"query": "moon", "maxCharacters": 10}});
    let body = ok(&api.post(SEARCH, &json!({"query": QUERY, "contents": contents})).await);
    assert_eq!(body["results"][0]["highlights"], json!(["# Root\n\nPa"]));
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
        (json!({"startPublishedDate": "2026-06-01T00:00:00.000Z"}), &all[..1]),
        (json!({"endPublishedDate": "2026-06-01T00:00:00.000Z"}), &all[1..2]),
        (json!({"includeDomains": ["a.example"]}), &all[..1]),
        (json!({"excludeDomains": ["a.example"]}), &all[1..]),
        (json!({"includeText": ["sun and the moon"]}), &all[2..]),
        (json!({"additionalQueries": ["moon"], "useAutoprompt": true, "category": "news"}), &all[..]),
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
    for (path, body, field) in [
        (SEARCH, json!({"query": "x", "excludeText": ["y"]}), "excludeText"),
        (SEARCH, json!({"query": "x", "includeText": ["y", "z"]}), "includeText"),
        (SEARCH, json!({"query": "x", "includeDomains": ["a b"]}), "includeDomains[0]"),
        (SEARCH, json!({"query": "x", "contents": {"summary": true}}), "contents.summary"),
        (SEARCH, json!({"query": "x", "stream": true}), "stream"),
        (SEARCH, json!({"query": "x", "startPublishedDate": "soon"}), "startPublishedDate"),
        (CONTENTS, json!({"urls": []}), "urls"),
        (CONTENTS, json!({"urls": ["https://example.com/"], "summary": {"query": "x"}}), "summary"),
    ] {
        let answer = api.post(path, &body).await;
        let error = answer.json();
        assert_eq!((answer.status, &error["tag"]), (400, &json!("INVALID_REQUEST_BODY")), "{error}");
        assert!(error["error"].as_str().unwrap().contains(field), "{error}");
        assert_eq!(error["requestId"].as_str(), answer.header("X-Request-ID"));
    }
    let missing = actix_web::test::TestRequest::post().uri(SEARCH).set_payload("{}");
    assert_eq!(api.send(missing).await.json()["tag"], "INVALID_API_KEY");
}

#[actix_web::test]
async fn contents_are_read_and_their_status_told() {
    let (api, site) = (in_time().await, Site::start());
    let good = site.put("/a", Page::html("<h1>Tides</h1><p>The moon moves the tides, twice a day, everywhere.</p>"));
    let bad = site.url("/missing");
    let body = ok(&api.post(CONTENTS, &json!({"urls": [good, bad, "x"]})).await);
    assert_eq!(body["results"].as_array().unwrap().len(), 1);
    assert!(body["results"][0]["text"].as_str().unwrap().contains("moon"));
    let statuses = &body["statuses"];
    assert_eq!(statuses[0], json!({"id": good, "status": "success", "source": "crawled"}));
    let error = json!({"tag": "CRAWL_NOT_FOUND", "httpStatusCode": 404});
    assert_eq!(statuses[1], json!({"id": bad, "status": "error", "error": error}));
    assert_eq!(statuses[2]["error"]["tag"], "UNSUPPORTED_URL");

    let body = ok(&api.post(CONTENTS, &json!({"ids": [good], "highlights": {"query": "moon"}})).await);
    assert_eq!(body["statuses"][0]["source"], "cached");
    assert!(body["results"][0].get("text").is_none());
    assert!(body["results"][0]["highlights"][0].as_str().unwrap().contains("moon"), "{body}");
}

#[actix_web::test]
async fn content_older_than_asked_is_an_error() {
    let (api, site) = (in_time().await, Site::start());
    let url = site.put("/a", Page::html("<h1>Tides</h1><p>The moon moves the tides, twice a day, everywhere.</p>"));
    let fresh = json!({"urls": [url], "livecrawl": "always"});
    assert_eq!(ok(&api.post(CONTENTS, &fresh).await)["statuses"][0]["status"], "success", "just read");
    api.world.clock.advance(Duration::from_hours(3));
    site.put("/a", Page::status(500));
    for (option, value, status) in [
        ("livecrawl", json!("always"), "error"),
        ("maxAgeHours", json!(2), "error"),
        ("maxAgeHours", json!(4), "success"),
        ("maxAgeHours", json!(-1), "success"),
        ("livecrawl", json!("fallback"), "success"),
        ("livecrawl", json!("preferred"), "success"),
        ("livecrawl", json!("never"), "success"),
    ] {
        let body = ok(&api.post(CONTENTS, &json!({"urls": [url], option: value})).await);
        assert_eq!(body["statuses"][0]["status"], status, "{option} {value}: {body}");
    }
    site.put("/a", Page::html("<h1>Tides</h1><p>The sun helps the moon a little, which few people know.</p>"));
    let body = ok(&api.post(CONTENTS, &json!({"urls": [url], "maxAgeHours": 0})).await);
    assert!(body["results"][0]["text"].as_str().unwrap().contains("sun"), "read again: {body}");
    let unknown = site.put("/b", Page::html("<p>Never read.</p>"));
    let body = ok(&api.post(CONTENTS, &json!({"urls": [unknown], "livecrawl": "never"})).await);
    assert_eq!((&body["statuses"][0]["status"], site.hits("/b")), (&json!("error"), 0));
}

#[actix_web::test]
async fn highlights_are_of_the_page_and_not_of_a_search_result() {
    let site = Site::start();
    let url = site.put("/a", Page::html("<h1>Tides</h1><p>The moon moves the tides, twice a day, everywhere.</p>"));
    let api = api_with_result(&url).await;
    let highlights = json!({"query": "moon"});
    ok(&api.post(SEARCH, &json!({"query": QUERY})).await);
    let body = ok(&api.post(CONTENTS, &json!({"urls": [url], "highlights": highlights})).await);
    assert!(body["results"][0]["highlights"][0].as_str().unwrap().contains("twice a day"), "{body}");

    let api = api_with_result(&url).await;
    let body = ok(&api.post(SEARCH, &json!({"query": QUERY, "contents": {"highlights": highlights}})).await);
    assert!(body["results"][0]["highlights"][0].as_str().unwrap().contains("twice a day"), "{body}");
}

#[actix_web::test]
async fn files_are_never_too_old() {
    let api = in_time().await.with_files(&["notes.txt"]).await;
    api.world.clock.advance(Duration::from_hours(100));
    for (option, value) in [("livecrawl", json!("always")), ("maxAgeHours", json!(24))] {
        let body = ok(&api.post(SEARCH, &json!({"query": QUERY, "contents": {"text": true, option: value}})).await);
        assert!(body["results"][0]["text"].as_str().unwrap().contains("Paragraph 0"), "{option}: {body}");
    }
}
