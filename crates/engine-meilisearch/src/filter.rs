//! Filters in the server's filter expression language.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::indexing::Site;
use engine::{Filters, UnknownValues};
use model::Collection;

use crate::document::attribute;
use crate::token;

/// Returns the filter for a scope; `None` for the whole web index.
pub fn for_scope(scope: Collection) -> Option<String> {
    match scope {
        Collection::Web => None,
        Collection::Workspace(organization_id) => Some(format!("{} = \"{organization_id}\"", attribute::ORGANIZATION)),
    }
}

/// Returns the filter for a scope combined with the filters of a request.
pub fn for_request(scope: Collection, filters: &Filters) -> Option<String> {
    let mut conditions = regardless_of_values(scope, filters);
    conditions.extend(value_filters(filters).into_iter().map(|filter| filter.condition));
    (!conditions.is_empty()).then(|| conditions.join(" AND "))
}

/// Documents that meet a request but for unknown values, one of which is that of a certain filter.
pub struct WithoutValue {
    pub filter: Arc<str>,
    /// Counter of these documents.
    pub count: fn(&mut UnknownValues) -> &mut u64,
}

/// Returns the documents without a value, for each filter of a request that needs one.
pub fn without_values(scope: Collection, filters: &Filters) -> Vec<WithoutValue> {
    let values = value_filters(filters);
    let without = values.iter().map(|lacking| {
        let mut conditions = regardless_of_values(scope, filters);
        conditions.extend(values.iter().map(|value| match value.attribute == lacking.attribute {
            true => format!("{} IS NULL", value.attribute),
            false => format!("({} OR {} IS NULL)", value.condition, value.attribute),
        }));
        WithoutValue { filter: conditions.join(" AND ").into(), count: lacking.count }
    });
    without.collect()
}

/// Returns the number of filters of a request that need a value.
pub fn count_of_values(filters: &Filters) -> usize {
    value_filters(filters).len()
}

/// Filter on a value that a document may lack.
struct ValueFilter {
    attribute: &'static str,
    condition: String,
    count: fn(&mut UnknownValues) -> &mut u64,
}

fn value_filters(filters: &Filters) -> Vec<ValueFilter> {
    let language = filters.language.as_ref().map(|language| ValueFilter {
        attribute: attribute::LANGUAGE,
        condition: format!("{} = {}", attribute::LANGUAGE, quoted(language)),
        count: |unknown| &mut unknown.language,
    });
    let country = filters.country.as_ref().map(|country| ValueFilter {
        attribute: attribute::COUNTRY,
        condition: format!("{} = {}", attribute::COUNTRY, quoted(country)),
        count: |unknown| &mut unknown.country,
    });
    let after = filters.published_after.map(|after| format!("{} > {}", attribute::PUBLISHED_AT, after.as_millis()));
    let before = filters.published_before.map(|before| format!("{} < {}", attribute::PUBLISHED_AT, before.as_millis()));
    let condition = match (after, before) {
        (Some(after), Some(before)) => Some(format!("({after} AND {before})")),
        (after, before) => after.or(before),
    };
    let published = condition.map(|condition| ValueFilter {
        attribute: attribute::PUBLISHED_AT,
        condition,
        count: |unknown| &mut unknown.published_at,
    });
    [language, country, published].into_iter().flatten().collect()
}

/// Returns the conditions on scope, domains and labels.
fn regardless_of_values(scope: Collection, filters: &Filters) -> Vec<String> {
    let mut conditions: Vec<String> = for_scope(scope).into_iter().collect();
    if !filters.include_domains.is_empty() {
        conditions.push(any_site(&filters.include_domains));
    }
    conditions.extend(no_site(&filters.exclude_domains));
    if !filters.labels.is_empty() {
        let tokens: Vec<String> = filters.labels.iter().map(|label| token::exact(label)).collect();
        conditions.push(format!("{} IN {}", attribute::LABELS, list(&tokens)));
    }
    conditions
}

/// Returns the condition of a document on any of the sites, of which there is at least one.
fn any_site(sites: &[String]) -> String {
    let (domains, paths) = split(sites);
    let mut any: Vec<String> = Vec::new();
    if !domains.is_empty() {
        any.push(format!("{} IN {}", attribute::DOMAINS, list(&domains)));
    }
    any.extend(paths.iter().map(|(path, domains)| {
        format!(
            "({} IN {} AND {} = {})",
            attribute::DOMAINS,
            list(domains),
            attribute::PATHS,
            quoted(&token::exact(path))
        )
    }));
    if let [one] = &*any { one.clone() } else { format!("({})", any.join(" OR ")) }
}

/// Returns the conditions of a document on none of the sites.
fn no_site(sites: &[String]) -> Vec<String> {
    let (domains, paths) = split(sites);
    let mut all: Vec<String> = Vec::new();
    if !domains.is_empty() {
        all.push(format!("{} NOT IN {}", attribute::DOMAINS, list(&domains)));
    }
    all.extend(paths.iter().map(|(path, domains)| {
        format!(
            "({} NOT IN {} OR {} != {})",
            attribute::DOMAINS,
            list(domains),
            attribute::PATHS,
            quoted(&token::exact(path))
        )
    }));
    all
}

/// Separates whole domains from sites with a path, which are grouped by it.
fn split(sites: &[String]) -> (Vec<&str>, BTreeMap<&str, Vec<&str>>) {
    let mut domains = Vec::new();
    let mut paths: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for site in sites.iter().map(|site| Site::of(site)) {
        match site.path {
            None => domains.push(site.domain),
            Some(path) => paths.entry(path).or_default().push(site.domain),
        }
    }
    (domains, paths)
}

fn list(values: &[impl AsRef<str>]) -> String {
    let values: Vec<String> = values.iter().map(|value| quoted(value.as_ref())).collect();
    format!("[{}]", values.join(", "))
}

fn quoted(value: &str) -> String {
    let mut quoted = String::with_capacity(value.len() + 2);
    quoted.push('"');
    for character in value.chars() {
        if matches!(character, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use model::{OrganizationId, Timestamp};
    use uuid::Uuid;

    #[test]
    fn conditions_are_joined_and_values_quoted() {
        let scope = Collection::Workspace(OrganizationId(Uuid::nil()));
        let filters = Filters {
            language: Some("e\"n".into()),
            country: None,
            published_after: Some(Timestamp::from_millis(-1)),
            published_before: Some(Timestamp::from_millis(9)),
            include_domains: vec!["a.com".into(), "b.com".into()],
            exclude_domains: vec!["c.com".into()],
            labels: vec!["Q3".into()],
        };
        let label = token::exact("Q3");
        assert_eq!(
            for_request(scope, &filters).unwrap(),
            format!(
                "organization_id = \"00000000-0000-0000-0000-000000000000\" AND domains IN [\"a.com\", \"b.com\"] AND \
                 domains NOT IN [\"c.com\"] AND labels IN [\"{label}\"] AND language = \"e\\\"n\" AND \
                 (published_at > -1 AND published_at < 9)"
            )
        );
        assert_eq!(for_request(Collection::Web, &Filters::default()), None);
        let before = Filters { published_before: Some(Timestamp::from_millis(9)), ..Filters::default() };
        assert_eq!(for_request(Collection::Web, &before).as_deref(), Some("published_at < 9"));
    }

    #[test]
    fn sites_with_paths_are_grouped_by_path() {
        let sites = |sites: &[&str]| sites.iter().map(|site| (*site).to_owned()).collect::<Vec<_>>();
        let filters = Filters {
            include_domains: sites(&["a.com/docs", "b.com", "c.com/docs"]),
            exclude_domains: sites(&["a.com/docs/old", "d.com"]),
            ..Filters::default()
        };
        let (docs, old) = (token::exact("/docs"), token::exact("/docs/old"));
        assert_eq!(
            for_request(Collection::Web, &filters).unwrap(),
            format!(
                "(domains IN [\"b.com\"] OR (domains IN [\"a.com\", \"c.com\"] AND paths = \"{docs}\")) AND \
                 domains NOT IN [\"d.com\"] AND (domains NOT IN [\"a.com\"] OR paths != \"{old}\")"
            )
        );
        let filters = Filters { include_domains: sites(&["a.com/docs"]), ..Filters::default() };
        assert_eq!(
            for_request(Collection::Web, &filters).unwrap(),
            format!("(domains IN [\"a.com\"] AND paths = \"{docs}\")")
        );
    }

    #[test]
    fn documents_without_a_value_meet_the_other_filters_or_lack_their_values_too() {
        let filters = Filters {
            country: Some("us".into()),
            published_after: Some(Timestamp::from_millis(7)),
            exclude_domains: vec!["c.com".into()],
            ..Filters::default()
        };
        let without = without_values(Collection::Web, &filters);
        let mut counts = UnknownValues::default();
        without.iter().zip(1..).for_each(|(without, number)| *(without.count)(&mut counts) = number);
        assert_eq!(counts, UnknownValues { country: 1, published_at: 2, language: 0 });
        let filters: Vec<&str> = without.iter().map(|without| &*without.filter).collect();
        assert_eq!(
            filters,
            [
                "domains NOT IN [\"c.com\"] AND country IS NULL AND (published_at > 7 OR published_at IS NULL)",
                "domains NOT IN [\"c.com\"] AND (country = \"us\" OR country IS NULL) AND published_at IS NULL",
            ]
        );
        assert!(without_values(Collection::Web, &Filters::default()).is_empty());
    }
}
