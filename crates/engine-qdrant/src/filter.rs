//! Filters of requests as conditions of the server.

use std::collections::BTreeMap;

use engine::indexing::Site;
use engine::{Filters, UnknownValues, tokens};
use model::{Collection, Timestamp};
use qdrant_client::qdrant::{Condition, Filter, Range};

use crate::document::field;

/// Returns the conditions on the documents of a scope: those of one organization, or all of the web index.
pub fn of_scope(scope: Collection) -> Vec<Condition> {
    match scope {
        Collection::Web => Vec::new(),
        Collection::Workspace(owner) => vec![Condition::matches(field::ORGANIZATION, owner.0.to_string())],
    }
}

/// Returns the conditions of a request.
pub fn of_request(scope: Collection, filters: &Filters) -> Vec<Condition> {
    let mut conditions = regardless_of_values(scope, filters);
    conditions.extend(value_filters(filters).into_iter().map(|filter| filter.condition));
    conditions
}

/// Returns the condition on documents that contain a stem.
pub fn stem(stem: &str) -> Condition {
    Condition::matches_text(field::TOKENS, tokens::stem(stem))
}

/// Returns the condition on documents that contain any of the stems.
pub fn any_stem<'a>(stems: impl Iterator<Item = &'a str>) -> Condition {
    let tokens: Vec<String> = stems.map(tokens::stem).collect();
    Condition::matches_text_any(field::TOKENS, tokens.join(" "))
}

/// Returns the condition on documents that contain the words and pairs of neighbouring words of any of the phrases.
pub fn any_phrase(phrases: &[Vec<String>]) -> Condition {
    let phrase = |words: &Vec<String>| {
        let pairs = words.windows(2).map(|pair| tokens::pair(&pair[0], &pair[1]));
        let tokens: Vec<String> = words.iter().map(|word| tokens::word(word)).chain(pairs).collect();
        Condition::matches_text(field::TOKENS, tokens.join(" "))
    };
    Filter::should(phrases.iter().map(phrase)).into()
}

/// Documents that meet a request but for unknown values, one of which is that of a certain filter.
pub struct WithoutValue {
    pub conditions: Vec<Condition>,
    /// Counter of these documents.
    pub count: fn(&mut UnknownValues) -> &mut u64,
}

/// Returns the documents without a value, for each filter of a request that needs one.
pub fn without_values(scope: Collection, filters: &Filters) -> Vec<WithoutValue> {
    let values = value_filters(filters);
    let without = values.iter().map(|lacking| {
        let mut conditions = regardless_of_values(scope, filters);
        conditions.extend(values.iter().map(|value| match value.field == lacking.field {
            true => Condition::is_empty(value.field),
            false => Filter::should([value.condition.clone(), Condition::is_empty(value.field)]).into(),
        }));
        WithoutValue { conditions, count: lacking.count }
    });
    without.collect()
}

/// Filter on a value that a document may lack.
struct ValueFilter {
    field: &'static str,
    condition: Condition,
    count: fn(&mut UnknownValues) -> &mut u64,
}

fn value_filters(filters: &Filters) -> Vec<ValueFilter> {
    let language = filters.language.as_ref().map(|language| ValueFilter {
        field: field::LANGUAGE,
        condition: Condition::matches(field::LANGUAGE, language.clone()),
        count: |unknown| &mut unknown.language,
    });
    let country = filters.country.as_ref().map(|country| ValueFilter {
        field: field::COUNTRY,
        condition: Condition::matches(field::COUNTRY, country.clone()),
        count: |unknown| &mut unknown.country,
    });
    let (after, before) = (filters.published_after, filters.published_before);
    let published = (after.is_some() || before.is_some()).then(|| ValueFilter {
        field: field::PUBLISHED_AT,
        condition: Condition::range(
            field::PUBLISHED_AT,
            Range { gt: after.map(bound), lt: before.map(bound), ..Range::default() },
        ),
        count: |unknown| &mut unknown.published_at,
    });
    [language, country, published].into_iter().flatten().collect()
}

/// Returns a time as the server compares it. Exact for 285,000 years.
fn bound(time: Timestamp) -> f64 {
    time.as_millis() as f64
}

/// Returns the conditions on scope, domains and labels.
fn regardless_of_values(scope: Collection, filters: &Filters) -> Vec<Condition> {
    let mut conditions = of_scope(scope);
    if !filters.include_domains.is_empty() {
        conditions.push(Filter::should(sites(&filters.include_domains)).into());
    }
    if !filters.exclude_domains.is_empty() {
        conditions.push(Filter::must_not(sites(&filters.exclude_domains)).into());
    }
    if !filters.labels.is_empty() {
        conditions.push(Condition::matches(field::LABELS, filters.labels.clone()));
    }
    conditions
}

/// Returns the conditions of which a document on one of the sites meets one: for whole domains, and for each path.
fn sites(sites: &[String]) -> Vec<Condition> {
    let mut domains: Vec<String> = Vec::new();
    let mut paths: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for site in sites.iter().map(|site| Site::of(site)) {
        match site.path {
            None => domains.push(site.domain.to_owned()),
            Some(path) => paths.entry(path).or_default().push(site.domain.to_owned()),
        }
    }
    let mut conditions: Vec<Condition> = Vec::new();
    if !domains.is_empty() {
        conditions.push(Condition::matches(field::DOMAINS, domains));
    }
    conditions.extend(paths.into_iter().map(|(path, domains)| {
        let both = [Condition::matches(field::DOMAINS, domains), Condition::matches(field::PATHS, path.to_owned())];
        Filter::must(both).into()
    }));
    conditions
}
