//! Filters in the server's filter expression language.

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
    pub filter: String,
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
        WithoutValue { filter: conditions.join(" AND "), count: lacking.count }
    });
    without.collect()
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
    let published = filters.published_after.map(|after| ValueFilter {
        attribute: attribute::PUBLISHED_AT,
        condition: format!("{} > {}", attribute::PUBLISHED_AT, after.as_millis()),
        count: |unknown| &mut unknown.published_at,
    });
    [language, country, published].into_iter().flatten().collect()
}

/// Returns the conditions on scope, domains and labels.
fn regardless_of_values(scope: Collection, filters: &Filters) -> Vec<String> {
    let mut conditions: Vec<String> = for_scope(scope).into_iter().collect();
    if !filters.include_domains.is_empty() {
        conditions.push(format!("{} IN {}", attribute::DOMAINS, list(&filters.include_domains)));
    }
    if !filters.exclude_domains.is_empty() {
        conditions.push(format!("{} NOT IN {}", attribute::DOMAINS, list(&filters.exclude_domains)));
    }
    if !filters.labels.is_empty() {
        let tokens: Vec<String> = filters.labels.iter().map(|label| token::label(label)).collect();
        conditions.push(format!("{} IN {}", attribute::LABELS, list(&tokens)));
    }
    conditions
}

fn list(values: &[String]) -> String {
    let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
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
            include_domains: vec!["a.com".into(), "b.com".into()],
            exclude_domains: vec!["c.com".into()],
            labels: vec!["Q3".into()],
        };
        assert_eq!(
            for_request(scope, &filters).as_deref(),
            Some(
                "organization_id = \"00000000-0000-0000-0000-000000000000\" AND domains IN [\"a.com\", \"b.com\"] AND \
                 domains NOT IN [\"c.com\"] AND labels IN [\"l5133\"] AND language = \"e\\\"n\" AND published_at > -1"
            )
        );
        assert_eq!(for_request(Collection::Web, &Filters::default()), None);
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
        let filters: Vec<&str> = without.iter().map(|without| without.filter.as_str()).collect();
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
