use model::{Collection, IndexName, Timestamp};

use super::{file, found, id, organization, page, put, put_web, request, search};
use crate::{Filters, FirstStageRequest, IndexDocument, SearchEngine, UnknownValues};

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

pub async fn published_before_is_strict(engine: &dyn SearchEngine) {
    let at = |number, published_at: Option<i64>| IndexDocument {
        published_at: published_at.map(Timestamp::from_millis),
        ..page(number, "some word")
    };
    put_web(engine, vec![at(1, Some(999)), at(2, Some(1000)), at(3, Some(1001)), at(4, None), at(5, Some(-5))]).await;
    let within = |after: Option<i64>, before: i64| Filters {
        published_after: after.map(Timestamp::from_millis),
        published_before: Some(Timestamp::from_millis(before)),
        ..Filters::default()
    };
    check(engine, within(None, 1000), &[1, 5]).await;
    check(engine, within(None, 1001), &[1, 2, 5]).await;
    check(engine, within(Some(-5), 1001), &[1, 2]).await;
    check(engine, within(Some(1000), 1001), &[]).await;
    check(engine, within(Some(2000), 1000), &[]).await;
    check(engine, within(None, i64::MIN), &[]).await;
    check(engine, within(None, i64::MAX), &[1, 2, 3, 5]).await;
    let filters = within(None, 1000);
    let lacking = UnknownValues { published_at: 1, ..UnknownValues::default() };
    assert_eq!(unknown(engine, Collection::Web, filters).await, lacking);
}

pub async fn paths_match_at_borders_of_segments(engine: &dyn SearchEngine) {
    let at = |number, host: &str, path: &str| IndexDocument {
        host: host.to_owned(),
        path: path.to_owned(),
        ..page(number, "some word")
    };
    let deep = "/a".repeat(9);
    put_web(
        engine,
        vec![
            at(1, "example.com", "/docs"),
            at(2, "www.example.com", "/docs/guide/"),
            at(3, "example.com", "/docs2"),
            at(4, "example.com", "/a/docs"),
            at(5, "other.org", "/docs/x"),
            at(6, "example.com", "/"),
            at(7, "example.com", &deep),
        ],
    )
    .await;
    let include = |list: &[&str]| Filters { include_domains: domains(list), ..Filters::default() };
    let exclude = |list: &[&str]| Filters { exclude_domains: domains(list), ..Filters::default() };
    check(engine, include(&["example.com/docs"]), &[1, 2]).await;
    check(engine, include(&["example.com/docs/guide"]), &[2]).await;
    check(engine, include(&["example.com/docs", "other.org"]), &[1, 2, 5]).await;
    check(engine, include(&["example.com/Docs"]), &[]).await;
    // Of a deep path only the beginning is compared.
    check(engine, include(&[&format!("example.com{deep}")]), &[7]).await;
    check(engine, exclude(&["example.com/docs"]), &[3, 4, 5, 6, 7]).await;
    check(engine, exclude(&["example.com/docs", "other.org/docs"]), &[3, 4, 6, 7]).await;
    let both = Filters { exclude_domains: domains(&["example.com/docs/guide"]), ..include(&["example.com/docs"]) };
    check(engine, both, &[1]).await;
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

/// Returns a filter on any of these labels.
fn labelled(labels: &[&str]) -> Filters {
    Filters { labels: domains(labels), ..Filters::default() }
}

pub async fn labels_match_exactly(engine: &dyn SearchEngine) {
    let (ours, theirs) = (organization(1), organization(2));
    let odd = "a \"b\" \\ AND c = [1], été 日本";
    let with =
        |number, owner, labels: &[&str]| IndexDocument { labels: domains(labels), ..file(number, owner, "some word") };
    let documents = vec![
        with(1, ours, &["finance", "2026"]),
        with(2, ours, &["finance team"]),
        with(3, ours, &[odd]),
        with(4, ours, &[]),
        with(5, theirs, &["finance"]),
        with(6, ours, &["ete"]),
    ];
    put(engine, IndexName::Workspace, documents).await;
    for (filters, expected) in [
        (labelled(&["finance"]), &[1][..]),
        (labelled(&["finance", odd]), &[1, 3]),
        (labelled(&["finance team", "2026", "absent"]), &[1, 2]),
        (labelled(&["Finance"]), &[]),
        (labelled(&["été"]), &[]),
        (labelled(&["team"]), &[]),
        (labelled(&[]), &[1, 2, 3, 4, 6]),
    ] {
        let collection = Collection::Workspace(ours);
        let searched = FirstStageRequest { collection, filters: filters.clone(), ..request("word") };
        let response = search(engine, &searched).await;
        let mut hits: Vec<_> = response.hits.iter().map(|hit| hit.doc_id).collect();
        hits.sort();
        let mut expected: Vec<_> = expected.iter().map(|number| id(*number)).collect();
        expected.sort();
        assert_eq!(hits, expected, "{filters:?}");
        assert_eq!(response.statistics.documents, 5);
        let phrase = FirstStageRequest { exact_phrase: true, ..searched };
        assert_eq!(found(engine, &phrase).await.len(), expected.len(), "{filters:?}");
    }
    // Replaced and removed with the document.
    put(engine, IndexName::Workspace, vec![with(1, ours, &["other"])]).await;
    for (label, expected) in [("finance", 0), ("other", 1)] {
        let filters = labelled(&[label]);
        let searched = FirstStageRequest { collection: Collection::Workspace(ours), filters, ..request("word") };
        assert_eq!(found(engine, &searched).await.len(), expected, "{label}");
    }
}

pub async fn labels_combine_with_other_filters(engine: &dyn SearchEngine) {
    let labelled = |number, language: Option<&str>, label: &str| IndexDocument {
        language: language.map(str::to_owned),
        labels: domains(&[label]),
        ..page(number, "some word")
    };
    put_web(
        engine,
        vec![
            labelled(1, Some("en"), "a"),
            labelled(2, Some("de"), "a"),
            labelled(3, Some("en"), "b"),
            labelled(4, None, "a"),
            labelled(5, None, "b"),
        ],
    )
    .await;
    let filters = Filters { language: Some("en".into()), labels: domains(&["a"]), ..Filters::default() };
    check(engine, filters.clone(), &[1]).await;
    // Only the fourth page lacks nothing but the language.
    let counted = unknown(engine, Collection::Web, filters).await;
    assert_eq!(counted, UnknownValues { language: 1, ..UnknownValues::default() });
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
        published_before: Some(Timestamp::from_millis(11)),
        include_domains: domains(&["example.com"]),
        exclude_domains: domains(&["example.org"]),
        ..Filters::default()
    };
    check(engine, filters, &[1]).await;
}

/// Returns the counts of a search for `word`, which are the same for a phrase.
async fn unknown(engine: &dyn SearchEngine, collection: Collection, filters: Filters) -> UnknownValues {
    let searched = FirstStageRequest { collection, filters, ..request("word") };
    let counted = search(engine, &searched).await.unknown_values;
    let by_phrase = search(engine, &FirstStageRequest { exact_phrase: true, ..searched }).await.unknown_values;
    assert_eq!(counted, by_phrase);
    counted
}

/// Returns a page about `word` with these values; those of 0 or "" are unknown.
fn valued(number: u128, language: &str, country: &str, published_at: i64) -> IndexDocument {
    let known = |value: &str| (!value.is_empty()).then(|| value.to_owned());
    IndexDocument {
        language: known(language),
        country: known(country),
        published_at: (published_at != 0).then(|| Timestamp::from_millis(published_at)),
        ..page(number, "word")
    }
}

pub async fn unknown_values_are_counted_by_filter(engine: &dyn SearchEngine) {
    put_web(
        engine,
        vec![
            valued(1, "en", "us", 10),
            valued(2, "en", "", 10),
            valued(3, "en", "", 0),
            valued(4, "", "us", 10),
            valued(5, "de", "", 10),
            valued(6, "en", "", 5),
        ],
    )
    .await;
    let none = Filters::default();
    let (language, country) = (Some("en".to_owned()), Some("us".to_owned()));
    let published_after = Some(Timestamp::from_millis(7));
    for (filters, expected) in [
        (none.clone(), (0, 0, 0)),
        (Filters { language: language.clone(), ..none.clone() }, (1, 0, 0)),
        (Filters { country: country.clone(), ..none.clone() }, (0, 4, 0)),
        (Filters { published_after, ..none.clone() }, (0, 0, 1)),
        // A document that lacks two values counts for both, one that a known value excludes for none.
        (Filters { language, country, published_after, ..none }, (1, 2, 1)),
    ] {
        let (language, country, published_at) = expected;
        let expected = UnknownValues { language, country, published_at };
        assert_eq!(unknown(engine, Collection::Web, filters.clone()).await, expected, "{filters:?}");
    }
}

pub async fn unknown_values_are_counted_within_the_request(engine: &dyn SearchEngine) {
    let on = |number, host: &str, body: &str| IndexDocument { host: host.to_owned(), ..page(number, body) };
    put_web(engine, vec![on(1, "a.example", "word"), on(2, "b.example", "word"), on(3, "a.example", "other")]).await;
    let first = Collection::Workspace(organization(1));
    let files = vec![file(4, organization(1), "word"), file(5, organization(2), "word")];
    put(engine, IndexName::Workspace, files).await;
    let filters = Filters { country: Some("us".to_owned()), ..Filters::default() };
    let countries = |count| UnknownValues { country: count, ..UnknownValues::default() };
    assert_eq!(unknown(engine, Collection::Web, filters.clone()).await, countries(2));
    assert_eq!(unknown(engine, first, filters.clone()).await, countries(1));
    let include = Filters { include_domains: domains(&["a.example"]), ..filters.clone() };
    assert_eq!(unknown(engine, Collection::Web, include).await, countries(1));
    let exclude = Filters { exclude_domains: domains(&["a.example"]), ..filters.clone() };
    assert_eq!(unknown(engine, Collection::Web, exclude).await, countries(1));
    let unmatched = FirstStageRequest { filters, ..request("unheard") };
    assert_eq!(search(engine, &unmatched).await.unknown_values, countries(0));
}
