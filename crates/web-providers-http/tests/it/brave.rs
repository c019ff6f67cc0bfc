use std::time::Duration;

use model::Timestamp;
use serde_json::{Value, json};
use test_support::endpoint::{Endpoint, Received, Reply};
use web_providers::conformance::{Answer, Given, Running, SECRET, Scripted};
use web_providers::{Applied, ProviderError, WebProvider, WebQuery, parse_date};
use web_providers_http::{Brave, BraveOptions};

use crate::script::{Format, parameter, path};

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

struct Script;

impl Scripted for Script {
    fn start(&self, answer: Answer) -> Running {
        Format { list, error, text: |request| parameter(request, "q"), connect }.start(answer)
    }
}

web_providers::conformance_tests!(Script);

/// Returns an answer as the API sends it.
fn list(given: &[Given]) -> Value {
    let results = given.iter().map(|given| {
        json!({
            "title": given.title, "url": given.url, "is_source_local": false, "is_source_both": false, "description": given.snippet,
            "page_age": given.published, "age": "January 2, 2026", "profile": {"name": "A", "url": given.url}, "language": "en",
            "family_friendly": true, "type": "search_result", "subtype": "generic",
            "meta_url": {"scheme": "https", "netloc": "a.example", "hostname": "a.example", "favicon": "", "path": ""},
        })
    });
    json!({
        "query": {"original": "tides", "more_results_available": true}, "mixed": {"type": "mixed", "main": [], "top": [], "side": []},
        "type": "search", "web": {"type": "search", "results": results.collect::<Vec<_>>(), "family_friendly": true},
    })
}

fn error() -> Value {
    json!({"type": "ErrorResponse", "error": {"id": "1", "status": 429, "code": "RATE_LIMITED", "detail": "Request rate limit exceeded"}})
}

fn connect(endpoint: &Endpoint) -> Box<dyn WebProvider> {
    Box::new(provider(endpoint))
}

fn provider(endpoint: &Endpoint) -> Brave {
    let (url, api_key) = (endpoint.url("/res/v1/web/search"), SECRET.to_owned());
    Brave::new(&BraveOptions { url, api_key, timeout: Duration::from_secs(10) }).unwrap()
}

async fn asked(query: WebQuery) -> (Received, Applied) {
    let endpoint = Endpoint::start(|_, _| Reply::json(200, &list(&[])));
    let response = provider(&endpoint).search(&query, NOW).await.unwrap();
    (endpoint.received().remove(0), response.applied)
}

fn query() -> WebQuery {
    WebQuery { text: "tides".to_owned(), ..WebQuery::default() }
}

#[tokio::test]
async fn request_has_the_key_and_no_filters() {
    let (request, applied) = asked(query()).await;
    assert_eq!((path(&request), request.header("X-Subscription-Token")), ("/res/v1/web/search", SECRET));
    assert_eq!(parameter(&request, "count"), "20");
    assert!(!request.head.contains("freshness") && !request.head.contains("country"));
    assert_eq!(applied, Applied::default());
}

#[tokio::test]
async fn filters_are_passed_if_the_api_knows_their_values() {
    let filtered = |language: &str, country: &str| WebQuery {
        language: Some(language.to_owned()),
        country: Some(country.to_owned()),
        ..query()
    };
    for (language, country, sent) in [
        ("de", "ch", ("de", "CH")),
        ("ja", "jp", ("jp", "JP")),
        ("pt", "br", ("pt-br", "BR")),
        ("zh", "tw", ("zh-hant", "TW")),
        ("la", "va", ("", "")),
    ] {
        let (request, applied) = asked(filtered(language, country)).await;
        assert_eq!((parameter(&request, "search_lang").as_str(), parameter(&request, "country").as_str()), sent);
        assert_eq!((applied.language, applied.country), (!sent.0.is_empty(), !sent.1.is_empty()));
    }
}

#[tokio::test]
async fn publication_time_is_a_range_of_days() {
    let after = WebQuery { published_after: parse_date("2026-01-05T10:00:00Z"), ..query() };
    let (request, applied) = asked(after.clone()).await;
    assert_eq!((parameter(&request, "freshness").as_str(), applied), ("2026-01-05to2026-09-21", Applied::default()));
    let both = WebQuery { published_before: parse_date("2026-02-01"), ..after };
    assert_eq!(parameter(&asked(both.clone()).await.0, "freshness"), "2026-01-05to2026-02-01");
    assert_eq!(
        parameter(&asked(WebQuery { published_after: None, ..both }).await.0, "freshness"),
        "1970-01-01to2026-02-01"
    );
}

#[tokio::test]
async fn answer_without_web_section_has_no_results() {
    let endpoint = Endpoint::start(|_, _| Reply::json(200, &json!({"type": "search", "query": {"original": "tides"}})));
    assert_eq!(provider(&endpoint).search(&query(), NOW).await.unwrap().results, []);
}

#[tokio::test]
async fn extra_snippets_and_language_are_read() {
    let item = json!({"url": "https://a.example/", "title": "A", "description": "One.", "extra_snippets": ["Two.", 3], "language": "DE"});
    let answer = json!({"type": "search", "web": {"results": [item, 7, null, {"url": 1}]}});
    let endpoint = Endpoint::start(move |_, _| Reply::json(200, &answer));
    let results = provider(&endpoint).search(&query(), NOW).await.unwrap().results;
    assert_eq!(results.len(), 1);
    assert_eq!((results[0].snippet.as_str(), results[0].language.as_deref()), ("One. Two.", Some("de")));
}

#[tokio::test]
async fn exhausted_window_is_the_delay() {
    let headers = ["X-RateLimit-Limit: 1, 2000", "X-RateLimit-Remaining: 0, 1999", "X-RateLimit-Reset: 1, 1419704"];
    let endpoint = Endpoint::start(move |_, _| Reply::other(429, &headers, "{}"));
    match provider(&endpoint).search(&query(), NOW).await {
        Err(ProviderError::RateLimited { retry_after }) => assert_eq!(retry_after, Some(Duration::from_secs(1))),
        other => panic!("{other:?}"),
    }
}
