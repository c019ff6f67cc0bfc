use api_types::{Freshness, Verbosity};
use compat::ForeignSearch;
use compat::searxng::SearchRequest;
use serde_json::{Value, json};

use crate::fixtures::*;

#[test]
fn a_search_is_mapped() {
    let body = json!({"q": "tides", "format": "json", "pageno": "3", "time_range": "month", "language": "de"});
    let mapped = search::<SearchRequest>(body);
    assert_eq!((mapped.query.as_str(), mapped.max_results), ("tides", 30));
    assert_eq!(mapped.freshness_policy.freshness, Some(Freshness::Pm));
    assert_eq!((mapped.filters.language, mapped.response.verbosity), (None, Verbosity::Compact));
}

#[test]
fn what_cannot_be_honoured_is_refused() {
    for (name, value) in [
        ("format", "html"),
        ("pageno", "0"),
        ("pageno", "-1"),
        ("pageno", "x"),
        ("time_range", "decade"),
        ("categories", "images,videos"),
    ] {
        let mut body = json!({"q": "x", "format": "json"});
        body[name] = value.into();
        assert_eq!(refused::<SearchRequest>(body), name, "{value}");
    }
    for categories in ["", "general", "images, News"] {
        assert!(plan::<SearchRequest>(json!({"q": "x", "format": "json", "categories": categories})).is_ok());
    }
    let last = json!({"q": "x", "format": "json", "pageno": usize::MAX.to_string()});
    assert_eq!(search::<SearchRequest>(last).max_results, 50);
}

#[test]
fn an_answer_has_its_fields() {
    let request = asked::<SearchRequest>(json!({"q": "x", "format": "json", "pageno": "2"})).unwrap();
    let answer = request.answer(vec![hit(vec![])], moment());
    let result = &answer["results"][0];
    assert_eq!((&result["url"], &result["content"]), (&json!(URL), &json!("The moon.")));
    assert_eq!((&result["positions"], &result["publishedDate"]), (&json!([11]), &json!("2026-01-05T00:00:00Z")));
    assert_eq!((&answer["answers"], &answer["number_of_results"]), (&Value::Array(vec![]), &json!(1)));
}
