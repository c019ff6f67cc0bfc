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
fn what_cannot_be_honoured_is_refused() {
    for (body, field) in [
        (json!({"sources": [{"type": "news"}]}), "sources"),
        (json!({"categories": ["github"]}), "categories"),
        (json!({"enterprise": ["zdr"]}), "enterprise"),
        (json!({"scrapeOptions": {"formats": ["markdown", {"type": "json", "prompt": "x"}]}}), "scrapeOptions.formats"),
        (json!({"scrapeOptions": {"headers": {"Cookie": "x"}}}), "scrapeOptions.headers"),
        (json!({"tbs": "sbd:1"}), "tbs"),
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
