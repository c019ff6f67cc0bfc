use compat::exa::{ContentsRequest, SearchRequest};
use compat::{ForeignRead, ForeignSearch};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::fixtures::*;

#[test]
fn a_search_is_mapped() {
    let body = json!({
        "query": "q", "numResults": 100, "includeDomains": ["a.example"], "startPublishedDate": "2026-01-05T00:00:00.000Z",
        "additionalQueries": ["r"], "type": "deep", "contents": false,
    });
    let mapped = search::<SearchRequest>(body);
    assert_eq!((mapped.max_results, mapped.search_queries), (50, Some(vec!["q".to_owned(), "r".to_owned()])));
    assert_eq!(mapped.freshness_policy.published_after.as_deref(), Some("2026-01-05T00:00:00Z"));
    let phrase = search::<SearchRequest>(json!({"query": "q", "includeText": ["the moon"]}));
    assert_eq!((phrase.search_queries, phrase.filters.exact_match), (Some(vec!["the moon".to_owned()]), true));
}

#[test]
fn what_cannot_be_honoured_is_refused() {
    for (body, field) in [
        (json!({"excludeText": ["x"]}), "excludeText"),
        (json!({"includeText": ["x", "y"]}), "includeText"),
        (json!({"moderation": true}), "moderation"),
        (json!({"contents": {"extras": {"links": 3}}}), "contents.extras"),
        (json!({"contents": {"text": {"includeHtmlTags": true}}}), "contents.text.includeHtmlTags"),
        (json!({"endPublishedDate": "x"}), "endPublishedDate"),
        (json!({"includeText": ["x".repeat(8_193)]}), "includeText[0]"),
        (json!({"additionalQueries": ["x", "x".repeat(8_193)]}), "additionalQueries[1]"),
        (json!({"additionalQueries": ["x"], "includeText": ["y"]}), "additionalQueries"),
    ] {
        let mut asked = body;
        asked["query"] = "q".into();
        assert_eq!(refused::<SearchRequest>(asked), field);
    }
    assert!(
        plan::<SearchRequest>(json!({"query": "q", "contents": {"extras": {"links": 0}}, "stream": false})).is_ok()
    );
}

#[test]
fn additional_queries_leave_room_for_the_query() {
    let asking = |count: usize| json!({"query": "q", "additionalQueries": vec!["r"; count]});
    assert_eq!(search::<SearchRequest>(asking(15)).search_queries.unwrap().len(), 16);
    let refusal = plan::<SearchRequest>(asking(16)).unwrap_err();
    assert_eq!(refusal.field, "additionalQueries");
    assert!(refusal.message.contains("at most 15"), "{}", refusal.message);
}

#[test]
fn contents_of_a_search_are_read_if_asked_for() {
    let reads = |contents: Value| {
        let request = asked::<SearchRequest>(json!({"query": "q", "contents": contents})).unwrap();
        let reads = request.reads(&result());
        assert_eq!(request.reads_documents(), !reads.is_empty());
        reads
    };
    assert!(reads(Value::Null).is_empty() && reads(json!({"highlights": true, "text": false})).is_empty());
    let text = &reads(json!({"text": {"maxCharacters": 9}}))[0];
    assert_eq!((text.content.max_chars, text.doc_id.as_deref()), (Some(9), Some(Uuid::nil().to_string().as_str())));
    assert_eq!(reads(json!({"text": true, "highlights": {"query": "moon"}})).len(), 2);
}

#[test]
fn an_answer_has_its_fields() {
    let contents = json!({"text": true, "highlights": {"highlightsPerUrl": 3, "maxCharacters": 12}});
    let request = asked::<SearchRequest>(json!({"query": "q", "contents": contents})).unwrap();
    let answer = request.answer(vec![hit(vec![document()]), hit(vec![invalid()])], moment());
    let expected = json!({
        "id": URL, "url": URL, "title": "Tides", "publishedDate": "2026-01-05T00:00:00Z", "score": 0.5, "text": "# Tides",
        "highlights": ["Passage 1.", "Pa"],
    });
    assert_eq!((&answer["results"][0], &answer["results"][1]["text"]), (&expected, &json!("")));
    assert_eq!((&answer["requestId"], &answer["searchTime"]), (&json!(Uuid::nil()), &json!(250.0)));
}

#[test]
fn contents_have_a_status_for_each_url() {
    let request = asked::<ContentsRequest>(json!({"ids": [URL, "b", "c"]})).unwrap();
    assert_eq!(request.reads().unwrap().len(), 3, "the text, if nothing is named");
    let robots = unreadable(json!({"reason": "robots"}));
    let body = request.answer(vec![vec![document()], vec![robots], vec![invalid()]], moment()).body;
    assert_eq!(body["results"], json!([{"id": URL, "url": URL, "title": "Tides", "text": "# Tides"}]));
    let tags = [&body["statuses"][1]["error"]["tag"], &body["statuses"][2]["error"]["tag"]];
    assert_eq!(tags, [&json!("SOURCE_NOT_AVAILABLE"), &json!("UNSUPPORTED_URL")]);
}

#[test]
fn content_older_than_asked_is_an_error() {
    for (option, value, outcome, status) in [
        ("maxAgeHours", json!(1), stale(), "error"),
        ("maxAgeHours", json!(1), document(), "success"),
        ("maxAgeHours", json!(i64::MAX), document(), "success"),
        ("maxAgeHours", json!(-1), stale(), "success"),
        ("livecrawl", json!("always"), stale(), "error"),
        ("livecrawl", json!("always"), document(), "success"),
        ("livecrawl", json!("preferred"), stale(), "success"),
        ("livecrawl", json!("never"), stale(), "success"),
    ] {
        let request = asked::<ContentsRequest>(json!({"urls": URL, option: value})).unwrap();
        let body = request.answer(vec![vec![outcome]], moment()).body;
        assert_eq!(body["statuses"][0]["status"], status, "{option} {value}");
    }
}

#[test]
fn demands_on_the_age_of_contents_are_mapped() {
    for (options, max_age_seconds, cache_only, timeout_ms) in [
        (json!({}), None, false, None),
        (json!({"maxAgeHours": 2}), Some(7_200), false, None),
        (json!({"maxAgeHours": 0, "livecrawl": "never"}), Some(0), false, None),
        (json!({"maxAgeHours": -1}), None, true, None),
        (json!({"livecrawl": "always", "livecrawlTimeout": 5_000}), Some(0), false, Some(5_000)),
        (json!({"livecrawl": "preferred", "livecrawlTimeout": 900_000}), Some(0), false, Some(60_000)),
        (json!({"livecrawl": "never"}), None, true, None),
        (json!({"livecrawl": "fallback"}), None, false, None),
    ] {
        let mut body = options.clone();
        body["urls"] = json!([URL]);
        let reads = asked::<ContentsRequest>(body).unwrap().reads().unwrap();
        let read = &reads[0][0];
        let mapped = (read.max_age_seconds, read.cache_only, read.timeout_ms);
        assert_eq!(mapped, (max_age_seconds, cache_only, timeout_ms), "{options}");
    }
    let bounded = search::<SearchRequest>(json!({"query": "q", "endPublishedDate": "2026-01-05T00:00:00.000Z"}));
    assert_eq!(bounded.freshness_policy.published_before.as_deref(), Some("2026-01-05T00:00:00Z"));
    let contents = json!({"highlights": {"highlightsPerUrl": 7}});
    let mapped = search::<SearchRequest>(json!({"query": "q", "contents": contents}));
    assert_eq!(mapped.response.max_passages_per_result, 7);
}

#[test]
fn a_time_past_the_last_one_is_the_last_one() {
    let body = json!({"query": "q", "startPublishedDate": "9999-12-31T23:59:59-05:00", "endPublishedDate": "9999-12-31T23:59:59-05:00"});
    let policy = search::<SearchRequest>(body).freshness_policy;
    let last = Some("9999-12-31T23:59:59.999Z");
    assert_eq!((policy.published_after.as_deref(), policy.published_before.as_deref()), (last, last));
}
