//! Filters in the server's filter expression language.

use engine::Filters;
use model::Collection;

use crate::document::attribute;

/// Returns the filter for a scope; `None` for the whole web index.
pub fn for_scope(scope: Collection) -> Option<String> {
    match scope {
        Collection::Web => None,
        Collection::Workspace(organization_id) => Some(format!("{} = \"{organization_id}\"", attribute::ORGANIZATION)),
    }
}

/// Returns the filter for a scope combined with the filters of a request.
pub fn for_request(scope: Collection, filters: &Filters) -> Option<String> {
    let mut conditions: Vec<String> = for_scope(scope).into_iter().collect();
    if let Some(language) = &filters.language {
        conditions.push(format!("{} = {}", attribute::LANGUAGE, quoted(language)));
    }
    if let Some(country) = &filters.country {
        conditions.push(format!("{} = {}", attribute::COUNTRY, quoted(country)));
    }
    if let Some(after) = filters.published_after {
        conditions.push(format!("{} > {}", attribute::PUBLISHED_AT, after.as_millis()));
    }
    if !filters.include_domains.is_empty() {
        conditions.push(format!("{} IN {}", attribute::DOMAINS, list(&filters.include_domains)));
    }
    if !filters.exclude_domains.is_empty() {
        conditions.push(format!("{} NOT IN {}", attribute::DOMAINS, list(&filters.exclude_domains)));
    }
    (!conditions.is_empty()).then(|| conditions.join(" AND "))
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
        };
        assert_eq!(
            for_request(scope, &filters).as_deref(),
            Some(
                "organization_id = \"00000000-0000-0000-0000-000000000000\" AND language = \"e\\\"n\" AND \
                 published_at > -1 AND domains IN [\"a.com\", \"b.com\"] AND domains NOT IN [\"c.com\"]"
            )
        );
        assert_eq!(for_request(Collection::Web, &Filters::default()), None);
    }
}
