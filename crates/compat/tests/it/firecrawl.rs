use compat::firecrawl::{ScrapeRequest, SearchRequest};
use compat::{ForeignRead, ForeignSearch};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::fixtures::*;

#[test]
fn a_search_is_mapped() {
    let body = json!({"query": "q", "limit": 9, "sources": ["web"], "excludeDomains": ["a.example"], "tbs": "qdr:w"});
    let mapped = search::<SearchRequest>(body);
    assert_eq!((mapped.max_results, mapped.source_policy.exclude_domains), (9, vec!["a.example".to_owned()]));
    assert_eq!(mapped.freshness_policy.published_after.as_deref(), Some("2026-06-08T12:00:00Z"));
    assert_eq!(search::<SearchRequest>(json!({"query": "q"})).max_results, 5);
}

#[test]
fn the_window_of_the_source_comes_before_that_of_the_search() {
    let (day, week) = (Some("2026-06-14T12:00:00Z"), Some("2026-06-08T12:00:00Z"));
    for (sources, tbs, expected) in [
        (json!([{"type": "web", "tbs": "qdr:d"}]), Value::Null, day),
        (json!([{"type": "web", "tbs": "qdr:d", "filter": "", "lang": "de", "country": "de"}]), "qdr:w".into(), day),
        (json!(["web", {"type": "web", "tbs": "qdr:d"}]), Value::Null, day),
        (json!([{"type": "web", "tbs": "", "location": "Berlin"}]), "qdr:w".into(), week),
        (json!([{"type": "web"}]), Value::Null, None),
    ] {
        let mapped = search::<SearchRequest>(json!({"query": "q", "sources": sources, "tbs": tbs}));
        assert_eq!(mapped.freshness_policy.published_after.as_deref(), expected, "{sources} {tbs}");
    }
}

#[test]
fn what_cannot_be_honoured_is_refused() {
    for (body, field) in [
        (json!({"sources": [{"type": "news"}]}), "sources"),
        (json!({"categories": ["github"]}), "categories"),
        (json!({"enterprise": ["zdr"]}), "enterprise"),
        (json!({"scrapeOptions": {"formats": ["markdown", {"type": "json", "prompt": "x"}]}}), "scrapeOptions.formats"),
        (json!({"scrapeOptions": {"headers": {"Cookie": "x"}}}), "scrapeOptions.headers"),
        (json!({"tbs": "sbd:1"}), "tbs"),
        (json!({"sources": [{"type": "web", "tbs": "sbd:1"}]}), "tbs"),
        (json!({"sources": [{"type": "web", "tbs": "qdr:d"}, {"type": "web", "tbs": "qdr:w"}]}), "sources"),
        (json!({"sources": ["web", {"type": "web", "filter": "pdf"}]}), "sources.filter"),
        (json!({"filter": "pdf"}), "filter"),
    ] {
        let mut asked = body;
        asked["query"] = "q".into();
        assert_eq!(refused::<SearchRequest>(asked), field);
    }
}

#[test]
fn results_are_links_or_documents() {
    let asked = |options: Value| asked::<SearchRequest>(json!({"query": "q", "scrapeOptions": options})).unwrap();
    for options in [Value::Null, json!({}), json!({"formats": []}), json!({"onlyMainContent": true})] {
        assert!(!asked(options.clone()).reads_documents(), "{options}");
    }
    let asked = asked(json!({"formats": ["markdown"]}));
    assert!(asked.reads_documents());
    let answer = asked.answer(vec![hit(vec![document()]), hit(vec![invalid()])], moment());
    let metadata = json!({
        "cachedAt": "2026-06-15T10:00:00Z", "title": "Tides", "url": URL, "sourceURL": URL, "statusCode": 200,
        "scrapeId": Uuid::nil(),
    });
    let expected = json!({
        "url": URL, "title": "Tides", "description": "The moon.", "position": 1, "markdown": "# Tides", "metadata": metadata,
    });
    let web = &answer["data"]["web"];
    assert_eq!((&web[0], &web[1]["metadata"]["error"]), (&expected, &json!("no URL")));
}

#[test]
fn an_unreadable_page_is_an_error() {
    let request = asked::<ScrapeRequest>(json!({"url": URL})).unwrap();
    for (outcome, status) in [
        (document(), 200),
        (invalid(), 400),
        (unreadable(json!({"reason": "robots"})), 403),
        (unreadable(json!({"reason": "http_status", "status": 404})), 404),
        (unreadable(json!({"reason": "http_status", "status": 500})), 422),
        (unreadable(json!({"reason": "timeout"})), 408),
        (unreadable(json!({"reason": "no_text"})), 422),
        (unreadable(json!({"reason": "unreachable"})), 422),
        (unreadable(json!({})), 422),
    ] {
        let answered = request.answer(vec![vec![outcome]], moment());
        assert_eq!((answered.status, &answered.body["success"]), (status, &json!(status == 200)), "{}", answered.body);
    }
}

#[test]
fn demands_on_the_age_of_a_scrape_are_mapped() {
    for (options, max_age_seconds, cache_only, timeout_ms) in [
        (json!({}), None, false, None),
        (json!({"maxAge": 0, "timeout": 30_000}), Some(0), false, Some(30_000)),
        (json!({"maxAge": 90_500, "timeout": 300_000}), Some(90), false, Some(60_000)),
        (json!({"lockdown": true}), None, true, None),
    ] {
        let mut body = options.clone();
        body["url"] = json!(URL);
        let reads = asked::<ScrapeRequest>(body).unwrap().reads().unwrap();
        let read = &reads[0][0];
        let mapped = (read.max_age_seconds, read.cache_only, read.timeout_ms);
        assert_eq!(mapped, (max_age_seconds, cache_only, timeout_ms), "{options}");
    }
    let bounded = search::<SearchRequest>(json!({"query": "q", "tbs": "cdr:1,cd_max:1/31/2026"}));
    assert_eq!(bounded.freshness_policy.published_before.as_deref(), Some("2026-02-01T00:00:00Z"));
}
