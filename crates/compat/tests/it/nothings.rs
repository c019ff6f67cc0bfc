//! Values that ask for nothing.

use compat::{ForeignRead, ForeignSearch, exa, firecrawl, openwebui, searxng, tavily};
use serde_json::{Value, json};

use crate::fixtures::*;

fn nothings() -> [Value; 8] {
    [json!(null), json!(false), json!(0), json!(""), json!(" "), json!([]), json!([""]), json!([null, " "])]
}

/// Asserts that each of `fields`, which are JSON pointers, changes nothing if it asks for nothing.
#[track_caller]
fn unchanged<T: PartialEq + std::fmt::Debug>(request: &Value, fields: &[&str], map: impl Fn(Value) -> T) {
    let plain = map(request.clone());
    for field in fields {
        for nothing in nothings() {
            let mut body = request.clone();
            let (object, name) = field.rsplit_once('/').unwrap();
            body.pointer_mut(object).unwrap()[name] = nothing;
            assert_eq!(map(body.clone()), plain, "{body}");
        }
    }
}

/// Returns the plan of a search, whether it reads documents, and the reads of a hit.
fn asks<T: ForeignSearch>(body: Value) -> impl PartialEq + std::fmt::Debug {
    let request = asked::<T>(body).unwrap();
    (request.plan(NOW).unwrap(), request.reads_documents(), request.reads(&result()))
}

fn reads<T: ForeignRead>(body: Value) -> impl PartialEq + std::fmt::Debug {
    asked::<T>(body).unwrap().reads().unwrap()
}

#[test]
fn searches_are_as_without_the_field() {
    let tavily = [
        "/topic",
        "/search_depth",
        "/chunks_per_source",
        "/max_results",
        "/time_range",
        "/start_date",
        "/end_date",
        "/days",
        "/include_domains",
        "/include_domains_mode",
        "/exclude_domains",
        "/include_raw_content",
        "/include_usage",
        "/exact_match",
        "/language",
        "/filter_by_language",
        "/include_answer",
        "/max_age_hours",
    ];
    unchanged(&json!({"query": "q"}), &tavily, asks::<tavily::SearchRequest>);
    let exa = [
        "/numResults",
        "/includeDomains",
        "/excludeDomains",
        "/startPublishedDate",
        "/endPublishedDate",
        "/includeText",
        "/additionalQueries",
        "/contents",
        "/excludeText",
        "/outputSchema",
    ];
    unchanged(&json!({"query": "q"}), &exa, asks::<exa::SearchRequest>);
    let highlights = ["/contents/highlights/query", "/contents/highlights/highlightsPerUrl", "/contents/text"];
    unchanged(&json!({"query": "q", "contents": {"highlights": {}}}), &highlights, asks::<exa::SearchRequest>);
    let firecrawl = [
        "/limit",
        "/sources",
        "/includeDomains",
        "/excludeDomains",
        "/tbs",
        "/filter",
        "/scrapeOptions",
        "/scrapeOptions/formats",
        "/scrapeOptions/lockdown",
        "/scrapeOptions/includeTags",
        "/categories",
    ];
    unchanged(&json!({"query": "q", "scrapeOptions": {}}), &firecrawl, asks::<firecrawl::SearchRequest>);
    let searxng = ["/pageno", "/time_range", "/categories", "/language"];
    unchanged(&json!({"q": "q", "format": "json"}), &searxng, asks::<searxng::SearchRequest>);
    unchanged(&json!({"query": "q"}), &["/count"], asks::<openwebui::SearchRequest>);
}

#[test]
fn reads_are_as_without_the_field() {
    let tavily = ["/format", "/query", "/chunks_per_source", "/include_usage", "/timeout"];
    unchanged(&json!({"urls": [URL]}), &tavily, reads::<tavily::ExtractRequest>);
    let exa = ["/ids", "/text", "/highlights", "/livecrawl", "/livecrawlTimeout", "/summary", "/extras"];
    unchanged(&json!({"urls": [URL]}), &exa, reads::<exa::ContentsRequest>);
    unchanged(&json!({"ids": [URL]}), &["/urls"], reads::<exa::ContentsRequest>);
    let firecrawl = ["/formats", "/timeout", "/lockdown", "/headers", "/minAge"];
    unchanged(&json!({"url": URL}), &firecrawl, reads::<firecrawl::ScrapeRequest>);
    unchanged(&json!({"urls": [URL]}), &["/other"], reads::<openwebui::LoadRequest>);
}

#[test]
fn contents_without_contents_are_the_text() {
    for named in [json!({"text": false}), json!({"highlights": false}), json!({"text": false, "highlights": false})] {
        let mut body = named.clone();
        body["urls"] = json!([URL]);
        let request = asked::<exa::ContentsRequest>(body).unwrap();
        assert_eq!(request.reads().unwrap()[0].len(), 1, "{named}");
        let answer = request.answer(vec![vec![document()]], moment()).body;
        assert_eq!(
            (&answer["results"][0]["text"], &answer["statuses"][0]["status"]),
            (&json!("# Tides"), &json!("success"))
        );
    }
}

#[test]
fn blank_phrases_and_queries_are_left_out() {
    let mapped = search::<exa::SearchRequest>(json!({"query": "q", "includeText": ["", "the moon"]}));
    assert_eq!((mapped.search_queries, mapped.filters.exact_match), (Some(vec!["the moon".to_owned()]), true));
    let mapped = search::<exa::SearchRequest>(json!({"query": "q", "additionalQueries": ["", "r", null]}));
    assert_eq!(mapped.search_queries, Some(vec!["q".to_owned(), "r".to_owned()]));
}

#[test]
fn an_age_of_zero_is_a_demand_and_an_empty_object_a_switch() {
    let age = |read: &api_types::DocumentRequest| read.max_age_seconds;
    let body = json!({"url": URL, "maxAge": 0});
    assert_eq!(age(&asked::<firecrawl::ScrapeRequest>(body).unwrap().reads().unwrap()[0][0]), Some(0));
    let body = json!({"query": "q", "contents": {"text": {"maxCharacters": 0}, "maxAgeHours": 0}});
    let reads = asked::<exa::SearchRequest>(body).unwrap().reads(&result());
    assert_eq!((age(&reads[0]), reads[0].content.max_chars), (Some(0), None));
    let body = json!({"url": URL, "maxAge": ""});
    assert_eq!(age(&asked::<firecrawl::ScrapeRequest>(body).unwrap().reads().unwrap()[0][0]), None);
}

#[test]
fn a_missing_query_is_an_empty_one() {
    for body in [json!({}), json!({"query": null}), json!({"query": " "})] {
        assert_eq!(search::<tavily::SearchRequest>(body.clone()).query, "");
        assert_eq!(search::<openwebui::SearchRequest>(body).query, "");
    }
    for body in [json!({}), json!({"urls": null}), json!({"urls": [""]})] {
        assert_eq!(asked::<tavily::ExtractRequest>(body).unwrap().reads().unwrap_err().field, "urls");
    }
}
