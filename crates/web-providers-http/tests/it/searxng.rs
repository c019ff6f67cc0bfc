use std::time::Duration;

use model::Timestamp;
use serde_json::{Value, json};
use test_support::endpoint::{Endpoint, Received, Reply};
use web_providers::conformance::{Answer, Given, Running, Scripted};
use web_providers::{Applied, ProviderError, WebProvider, WebQuery, parse_date};
use web_providers_http::{Searxng, SearxngOptions};

use crate::script::{Format, parameter, path};

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

struct Script;

impl Scripted for Script {
    fn start(&self, answer: Answer) -> Running {
        Format { list, error: || json!({"error": "search error"}), text: |request| parameter(request, "q"), connect }
            .start(answer)
    }
}

web_providers::conformance_tests!(Script);

/// Returns an answer as the server sends it.
fn list(given: &[Given]) -> Value {
    let results = given.iter().enumerate().map(|(position, given)| {
        json!({
            "url": given.url, "title": given.title, "content": given.snippet, "publishedDate": given.published,
            "thumbnail": null, "engine": "duckduckgo", "parsed_url": ["https", "a.example", "/", "", "", ""],
            "template": "default.html", "engines": ["duckduckgo"], "positions": [position + 1], "score": 1.0, "category": "general",
        })
    });
    json!({
        "query": "tides", "number_of_results": 0, "results": results.collect::<Vec<_>>(), "answers": [], "corrections": [],
        "infoboxes": [], "suggestions": ["tide table"], "unresponsive_engines": [],
    })
}

fn connect(endpoint: &Endpoint) -> Box<dyn WebProvider> {
    Box::new(provider(&endpoint.url("")))
}

fn provider(url: &str) -> Searxng {
    Searxng::new(&SearxngOptions { url: url.to_owned(), timeout: Duration::from_secs(10) }).unwrap()
}

/// Searches an endpoint without results. Returns its request and the filters that were applied.
async fn asked(query: WebQuery) -> (Received, Applied) {
    let endpoint = Endpoint::start(|_, _| Reply::json(200, &list(&[])));
    let response = provider(&endpoint.url("")).search(&query, NOW).await.unwrap();
    (endpoint.received().remove(0), response.applied)
}

fn query() -> WebQuery {
    WebQuery { text: "tides".to_owned(), ..WebQuery::default() }
}

#[tokio::test]
async fn json_is_requested_below_the_base_url() {
    for base in ["", "/", "/search", "/search/"] {
        let endpoint = Endpoint::start(|_, _| Reply::json(200, &list(&[])));
        provider(&endpoint.url(base)).search(&query(), NOW).await.unwrap();
        let request = endpoint.received().remove(0);
        assert_eq!((path(&request), parameter(&request, "format").as_str()), ("/search", "json"), "{base}");
        assert!(request.head.starts_with("GET "), "{}", request.head);
    }
    let (request, applied) = asked(query()).await;
    assert_eq!((parameter(&request, "language"), parameter(&request, "time_range")), Default::default());
    assert_eq!(applied, Applied::default());
}

#[tokio::test]
async fn language_with_country_is_a_locale() {
    let german = WebQuery { language: Some("de".to_owned()), ..query() };
    let (request, applied) = asked(german.clone()).await;
    assert_eq!(parameter(&request, "language"), "de");
    assert_eq!((applied.language, applied.country), (true, false));
    let swiss = WebQuery { country: Some("ch".to_owned()), ..german };
    let (request, applied) = asked(swiss.clone()).await;
    assert_eq!(parameter(&request, "language"), "de-CH");
    assert_eq!((applied.language, applied.country), (true, true));
    let (request, applied) = asked(WebQuery { language: None, ..swiss }).await;
    assert_eq!((parameter(&request, "language").as_str(), applied), ("", Applied::default()));
}

#[tokio::test]
async fn publication_time_is_a_range() {
    let after = |hours| WebQuery { published_after: Some(NOW - Duration::from_hours(hours)), ..query() };
    for (hours, range) in [(7 * 24, "week"), (3 * 24, "week"), (10_000, "")] {
        let (request, applied) = asked(after(hours)).await;
        assert_eq!((parameter(&request, "time_range").as_str(), applied), (range, Applied::default()), "{hours}");
    }
    let (request, _) = asked(WebQuery { published_before: Some(NOW), ..after(7 * 24) }).await;
    assert_eq!(parameter(&request, "time_range"), "week");
}

#[tokio::test]
async fn failed_engines_without_results_are_an_error() {
    let answer =
        json!({"query": "tides", "results": [], "unresponsive_engines": [["google", "CAPTCHA"], ["bing", "timeout"]]});
    let endpoint = Endpoint::start(move |_, _| Reply::json(200, &answer));
    let error = provider(&endpoint.url("")).search(&query(), NOW).await.unwrap_err();
    assert_eq!(error.to_string(), "invalid response from the provider: no results, and 2 engines of SearXNG failed");
}

#[tokio::test]
async fn missing_json_format_is_named() {
    let endpoint = Endpoint::start(|_, _| Reply::status(403));
    let error = provider(&endpoint.url("")).search(&query(), NOW).await.unwrap_err();
    assert!(matches!(error, ProviderError::Refused { status: 403, .. }));
    assert!(error.to_string().contains("search.formats"), "{error}");
}

#[tokio::test]
async fn dates_without_offset_are_utc() {
    let given = Given {
        url: "https://a.example/".to_owned(),
        published: Some("2023-05-01T00:00:00".to_owned()),
        ..Given::default()
    };
    let endpoint = Endpoint::start(move |_, _| Reply::json(200, &list(std::slice::from_ref(&given))));
    let response = provider(&endpoint.url("")).search(&query(), NOW).await.unwrap();
    assert_eq!(response.results[0].published_at, parse_date("2023-05-01T00:00:00Z"));
}

#[tokio::test]
async fn silent_endpoint_times_out() {
    let endpoint = Endpoint::start(|_, _| Reply::Silence);
    let options = SearxngOptions { url: endpoint.url(""), timeout: Duration::from_millis(30) };
    let error = Searxng::new(&options).unwrap().search(&query(), NOW).await.unwrap_err();
    assert_eq!(error.reason(), "timeout");
}
