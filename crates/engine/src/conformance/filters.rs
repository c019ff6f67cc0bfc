use model::Timestamp;

use super::{found, id, page, put_web, request};
use crate::{Filters, FirstStageRequest, IndexDocument, SearchEngine};

async fn check(engine: &dyn SearchEngine, filters: Filters, expected: &[u128]) {
    let mut hits = found(engine, &FirstStageRequest { filters: filters.clone(), ..request("word") }).await;
    // Filters also apply to phrases.
    let phrase = FirstStageRequest { filters: filters.clone(), exact_phrase: true, ..request("some word") };
    let mut by_phrase = found(engine, &phrase).await;
    let mut expected: Vec<_> = expected.iter().map(|number| id(*number)).collect();
    hits.sort();
    by_phrase.sort();
    expected.sort();
    assert_eq!(hits, expected, "{filters:?}");
    assert_eq!(by_phrase, expected, "{filters:?}");
}

fn domains(domains: &[&str]) -> Vec<String> {
    domains.iter().map(|domain| (*domain).to_owned()).collect()
}

pub async fn language_filter_is_applied(engine: &dyn SearchEngine) {
    let of = |number, language: Option<&str>| IndexDocument {
        language: language.map(str::to_owned),
        ..page(number, "some word")
    };
    put_web(engine, vec![of(1, Some("en")), of(2, Some("de")), of(3, None), of(4, Some("ja"))]).await;
    check(engine, Filters { language: Some("de".into()), ..Filters::default() }, &[2]).await;
    check(engine, Filters { language: Some("ja".into()), ..Filters::default() }, &[4]).await;
    check(engine, Filters { language: Some("xx".into()), ..Filters::default() }, &[]).await;
    check(engine, Filters::default(), &[1, 2, 3, 4]).await;
}

pub async fn country_filter_is_applied(engine: &dyn SearchEngine) {
    let of = |number, country: Option<&str>| IndexDocument {
        country: country.map(str::to_owned),
        ..page(number, "some word")
    };
    put_web(engine, vec![of(1, Some("us")), of(2, Some("de")), of(3, None)]).await;
    check(engine, Filters { country: Some("us".into()), ..Filters::default() }, &[1]).await;
    check(engine, Filters { country: Some("fr".into()), ..Filters::default() }, &[]).await;
}

pub async fn published_after_is_strict(engine: &dyn SearchEngine) {
    let at = |number, published_at: Option<i64>| IndexDocument {
        published_at: published_at.map(Timestamp::from_millis),
        ..page(number, "some word")
    };
    put_web(engine, vec![at(1, Some(999)), at(2, Some(1000)), at(3, Some(1001)), at(4, None), at(5, Some(-5))]).await;
    let after = |time| Filters { published_after: Some(Timestamp::from_millis(time)), ..Filters::default() };
    check(engine, after(1000), &[3]).await;
    check(engine, after(999), &[2, 3]).await;
    check(engine, after(-6), &[1, 2, 3, 5]).await;
    check(engine, after(i64::MAX), &[]).await;
    check(engine, after(i64::MIN), &[1, 2, 3, 5]).await;
}

pub async fn domains_match_subdomains_only(engine: &dyn SearchEngine) {
    let on = |number, host: &str| IndexDocument { host: host.to_owned(), ..page(number, "some word") };
    put_web(
        engine,
        vec![
            on(1, "example.com"),
            on(2, "docs.example.com"),
            on(3, "notexample.com"),
            on(4, "example.com.evil.org"),
            on(5, "10.0.0.1"),
        ],
    )
    .await;
    let include = |list: &[&str]| Filters { include_domains: domains(list), ..Filters::default() };
    let exclude = |list: &[&str]| Filters { exclude_domains: domains(list), ..Filters::default() };
    check(engine, include(&["example.com"]), &[1, 2]).await;
    check(engine, include(&["docs.example.com"]), &[2]).await;
    check(engine, include(&["docs.example.com", "evil.org"]), &[2, 4]).await;
    check(engine, include(&["10.0.0.1"]), &[5]).await;
    check(engine, include(&["0.0.1"]), &[]).await;
    check(engine, include(&["xample.com"]), &[]).await;
    check(engine, exclude(&["example.com"]), &[3, 4, 5]).await;
    check(engine, exclude(&["docs.example.com", "absent.org"]), &[1, 3, 4, 5]).await;
}

pub async fn excluded_domains_take_precedence(engine: &dyn SearchEngine) {
    let on = |number, host: &str| IndexDocument { host: host.to_owned(), ..page(number, "some word") };
    put_web(engine, vec![on(1, "example.com"), on(2, "docs.example.com")]).await;
    let filters = |include: &[&str], exclude: &[&str]| Filters {
        include_domains: domains(include),
        exclude_domains: domains(exclude),
        ..Filters::default()
    };
    check(engine, filters(&["example.com"], &["docs.example.com"]), &[1]).await;
    check(engine, filters(&["docs.example.com"], &["example.com"]), &[]).await;
}

pub async fn filters_combine(engine: &dyn SearchEngine) {
    let full = |number, language: &str, country: &str, published_at| IndexDocument {
        language: Some(language.to_owned()),
        country: Some(country.to_owned()),
        published_at: Some(Timestamp::from_millis(published_at)),
        ..page(number, "some word")
    };
    put_web(
        engine,
        vec![full(1, "en", "us", 10), full(2, "en", "us", 5), full(3, "en", "de", 10), full(4, "de", "us", 10)],
    )
    .await;
    let filters = Filters {
        language: Some("en".into()),
        country: Some("us".into()),
        published_after: Some(Timestamp::from_millis(7)),
        include_domains: domains(&["example.com"]),
        exclude_domains: domains(&["example.org"]),
    };
    check(engine, filters, &[1]).await;
}
