use std::time::Duration;

use model::Timestamp;
use serde_json::{Value, json};
use test_support::endpoint::{Endpoint, Reply};
use web_providers::conformance::{Answer, Given, Running, SECRET, Scripted};
use web_providers::{WebProvider, WebQuery, parse_date};
use web_providers_http::{Mapped, MappedOptions, Mapping, QueryPlace};

use crate::script::{Format, parameter};

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

struct Script;

impl Scripted for Script {
    fn start(&self, answer: Answer) -> Running {
        Format {
            list,
            error: || json!({"error": {"message": "quota"}}),
            text: |request| parameter(request, "query"),
            connect: |endpoint| Box::new(Mapped::new(options(endpoint)).unwrap()),
        }
        .start(answer)
    }
}

web_providers::conformance_tests!(Script);

fn list(given: &[Given]) -> Value {
    let items = given.iter().map(|given| {
        json!({"link": given.url, "headings": {"main": given.title}, "text": given.snippet, "date": given.published})
    });
    json!({"data": {"items": items.collect::<Vec<_>>()}})
}

fn options(endpoint: &Endpoint) -> MappedOptions {
    MappedOptions {
        url: endpoint.url("/find?engine=7"),
        header: Some(("Authorization".to_owned(), format!("Bearer {SECRET}"))),
        query: QueryPlace::Parameter("query".to_owned()),
        country_parameter: None,
        language_parameter: None,
        mapping: Mapping {
            results: "/data/items".to_owned(),
            url: "/link".to_owned(),
            title: "/headings/main".to_owned(),
            snippet: "/text".to_owned(),
            date: "/date".to_owned(),
        },
        timeout: Duration::from_secs(10),
    }
}

fn query() -> WebQuery {
    WebQuery {
        text: "tides".to_owned(),
        language: Some("de".to_owned()),
        country: Some("ch".to_owned()),
        published_after: Some(NOW),
        ..WebQuery::default()
    }
}

#[tokio::test]
async fn fixed_parameters_and_the_key_are_kept() {
    let endpoint = Endpoint::start(|_, _| Reply::json(200, &list(&[])));
    let response = Mapped::new(options(&endpoint)).unwrap().search(&query(), NOW).await.unwrap();
    let request = endpoint.received().remove(0);
    assert!(request.head.starts_with("GET /find?engine=7&query=tides HTTP"), "{}", request.head);
    assert_eq!(request.header("Authorization"), format!("Bearer {SECRET}"));
    assert_eq!(response.applied, Default::default(), "filters without a parameter are the caller's");
}

#[tokio::test]
async fn configured_filters_are_passed() {
    let endpoint = Endpoint::start(|_, _| Reply::json(200, &list(&[])));
    let options = MappedOptions {
        country_parameter: Some("gl".to_owned()),
        language_parameter: Some("hl".to_owned()),
        ..options(&endpoint)
    };
    let applied = Mapped::new(options).unwrap().search(&query(), NOW).await.unwrap().applied;
    let request = endpoint.received().remove(0);
    assert_eq!((parameter(&request, "gl").as_str(), parameter(&request, "hl").as_str()), ("ch", "de"));
    assert_eq!((applied.country, applied.language), (true, true));
}

#[tokio::test]
async fn query_in_a_body_is_posted() {
    let endpoint = Endpoint::start(|_, _| Reply::json(200, &list(&[])));
    let Value::Object(body) = json!({"max": 20, "input": {"kind": "web"}}) else { unreachable!() };
    let query_place = QueryPlace::Body { pointer: "/input/text".to_owned(), body };
    Mapped::new(MappedOptions { query: query_place, ..options(&endpoint) })
        .unwrap()
        .search(&query(), NOW)
        .await
        .unwrap();
    let request = endpoint.received().remove(0);
    assert!(request.head.starts_with("POST /find?engine=7 HTTP"), "{}", request.head);
    assert_eq!(request.json(), json!({"max": 20, "input": {"kind": "web", "text": "tides"}}));
}

#[tokio::test]
async fn list_may_be_the_root_and_a_date_a_number() {
    let answer = json!([{"u": "https://a.example/", "d": 1_767_225_600}, {"u": "https://b.example/", "d": {}}]);
    let endpoint = Endpoint::start(move |_, _| Reply::json(200, &answer));
    let mapping = Mapping {
        results: String::new(),
        url: "/u".to_owned(),
        title: String::new(),
        snippet: String::new(),
        date: "/d".to_owned(),
    };
    let provider = Mapped::new(MappedOptions { mapping, ..options(&endpoint) }).unwrap();
    let results = provider.search(&query(), NOW).await.unwrap().results;
    assert_eq!(results.len(), 2);
    assert_eq!((results[0].published_at, results[1].published_at), (parse_date("2026-01-01"), None));
}
