use std::time::Duration;

use api_types::{ContentFormat, Freshness, Selection};
use compat::tavily::{ExtractRequest, SearchRequest};
use compat::{ForeignRead, ForeignSearch, Hit};
use serde_json::{Value, json};

use crate::fixtures::*;

#[test]
fn a_search_is_mapped() {
    let body = json!({
        "query": "q", "max_results": 7, "time_range": "w", "days": null, "include_domains": ["a.example"],
        "exclude_domains": ["b.example"], "language": "de", "filter_by_language": true,
    });
    let search = search::<SearchRequest>(body);
    assert_eq!((search.query.as_str(), search.max_results), ("q", 7));
    assert_eq!(search.freshness_policy.freshness, Some(Freshness::Pw));
    assert_eq!(search.source_policy.include_domains, ["a.example"]);
    assert_eq!(search.source_policy.exclude_domains, ["b.example"]);
    assert!(search.source_policy.require_domain_match);
    assert_eq!(search.filters.language.as_deref(), Some("de"));
}

#[test]
fn dates_are_mapped() {
    let after = |body: Value| search::<SearchRequest>(body).freshness_policy.published_after;
    assert_eq!(after(json!({"query": "q", "days": 3, "topic": "news"})).as_deref(), Some("2026-06-12T12:00:00Z"));
    assert_eq!(after(json!({"query": "q", "start_date": "2026-01-05"})).as_deref(), Some("2026-01-04T23:59:59.999Z"));
    assert_eq!(after(json!({"query": "q", "days": 7, "topic": "general"})), None);
    for days in [10_000_000, i64::MAX] {
        let first = after(json!({"query": "q", "days": days, "topic": "news"}));
        assert_eq!(first.as_deref(), Some("0000-01-01T00:00:00Z"), "results without a known time are dropped");
    }
    assert_eq!(after(json!({"query": "q", "days": -1, "topic": "general"})), None);
    let bounded = search::<SearchRequest>(json!({"query": "q", "end_date": "2026-01-05"}));
    assert_eq!(bounded.freshness_policy.published_before.as_deref(), Some("2026-01-06T00:00:00Z"), "with that day");
    assert_eq!((bounded.max_results, bounded.response.max_passages_per_result), (5, 1));
    let paths = search::<SearchRequest>(json!({"query": "q", "include_domains": ["https://a.example/docs/"]}));
    assert_eq!(paths.source_policy.include_domains, ["a.example/docs"]);
}

#[test]
fn the_narrowest_age_applies() {
    let policy = |mut body: Value| {
        body["query"] = "q".into();
        let policy = search::<SearchRequest>(body).freshness_policy;
        (policy.freshness, policy.published_after)
    };
    // As the Python client sends it.
    let defaults = json!({"topic": "news", "days": 7, "time_range": "day"});
    assert_eq!(policy(defaults), (Some(Freshness::Pd), None));
    let early = json!({"topic": "news", "days": 7, "start_date": "2026-01-05"});
    assert_eq!(policy(early), (None, Some("2026-01-04T23:59:59.999Z".to_owned())));
    for (range, start, after) in [
        ("day", "2026-01-05", "2026-06-14T12:00:00Z"),
        ("week", "2026-06-01", "2026-06-08T12:00:00Z"),
        ("month", "2026-06-01", "2026-05-31T23:59:59.999Z"),
        ("year", "2025-01-01T00:00:00Z", "2025-06-15T12:00:00Z"),
        ("y", "2026-06-15T18:00:00+02:00", "2026-06-15T16:00:00Z"),
    ] {
        let both = json!({"topic": "news", "days": 7, "time_range": range, "start_date": start});
        assert_eq!(policy(both), (None, Some(after.to_owned())), "{range} {start}");
    }
}

#[test]
fn a_phrase_is_mapped() {
    let exact = search::<SearchRequest>(json!({"query": "who is \"Ada Lovelace\"", "exact_match": true}));
    assert_eq!((exact.search_queries, exact.filters.exact_match), (Some(vec!["Ada Lovelace".to_owned()]), true));
    let unquoted = search::<SearchRequest>(json!({"query": "who", "exact_match": true}));
    assert_eq!((unquoted.search_queries, unquoted.filters.exact_match), (None, false));
}

#[test]
fn what_cannot_be_honoured_is_refused() {
    for field in ["include_answer", "max_age_hours", "max_hours"] {
        assert_eq!(refused::<SearchRequest>(json!({"query": "q", field: 1})), field);
    }
    assert_eq!(refused::<SearchRequest>(json!({"query": "q", "include_raw_content": 5})), "include_raw_content");
    for days in [-1, i64::MIN] {
        assert_eq!(refused::<SearchRequest>(json!({"query": "q", "topic": "news", "days": days})), "days");
    }
}

#[test]
fn an_answer_has_its_fields() {
    let request = asked::<SearchRequest>(json!({"query": "q", "include_raw_content": true})).unwrap();
    assert_eq!(request.reads(&result()).len(), 1);
    let answer = request.answer(vec![hit(vec![document()]), hit(vec![invalid()])], moment());
    let expected = json!({
        "url": URL, "title": "Tides", "content": "Passage 1.", "score": 0.5, "raw_content": "# Tides",
        "published_date": "2026-01-05T00:00:00Z",
    });
    assert_eq!((&answer["results"][0], &answer["results"][1]["raw_content"]), (&expected, &Value::Null));
    assert_eq!(answer["response_time"], 0.25);
    let answer = request.answer(vec![Hit { result: bare(), documents: vec![] }], moment());
    assert_eq!((&answer["results"][0]["title"], &answer["results"][0]["content"]), (&json!(URL), &json!("")));
}

#[test]
fn an_extraction_is_mapped() {
    let reads = |body: Value| asked::<ExtractRequest>(body).unwrap().reads().unwrap();
    let read = &reads(json!({"urls": URL, "format": "text"}))[0][0];
    assert_eq!((read.canonical_url.as_deref(), read.content.format), (Some(URL), ContentFormat::Text));
    let read = &reads(json!({"urls": [URL], "query": "moon"}))[0][0];
    assert_eq!((read.query.as_deref(), read.content.selection), (Some("moon"), Selection::QueryRelevant));
}

#[test]
fn the_time_of_an_extraction_is_that_of_the_whole_request() {
    for (timeout, time) in [
        (json!(2), Some(Duration::from_secs(2))),
        (json!(0.25), Some(Duration::from_millis(250))),
        (json!(61), Some(Duration::from_secs(60))),
        (json!(1e300), Some(Duration::from_secs(60))),
        (json!(0), None),
        (json!(0.0001), None),
        (json!(-1e300), None),
        (json!(null), None),
    ] {
        let request = asked::<ExtractRequest>(json!({"urls": [URL, "x"], "timeout": timeout})).unwrap();
        assert_eq!(request.time(), time, "{timeout}");
        assert!(request.reads().unwrap().iter().flatten().all(|read| read.timeout_ms.is_none()), "{timeout}");
    }
}

#[test]
fn an_extraction_names_what_failed() {
    let request = asked::<ExtractRequest>(json!({"urls": [URL, "x"], "include_usage": true})).unwrap();
    let body = request.answer(vec![vec![document()], vec![invalid()]], moment()).body;
    assert_eq!(body["results"], json!([{"url": URL, "title": "Tides", "raw_content": "# Tides", "images": []}]));
    assert_eq!(body["failed_results"], json!([{"url": "x", "error": "no URL"}]));
    let request = asked::<ExtractRequest>(json!({"urls": [URL], "query": "moon"})).unwrap();
    let body = request.answer(vec![vec![document()]], moment()).body;
    assert_eq!(body["results"][0]["raw_content"], "The moon moves them.");
}
