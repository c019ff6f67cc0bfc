//! Conversion of a search to a provider's query.

use model::Timestamp;
use web_providers::WebQuery;

use super::super::SearchRequest;

/// Bounds of publication times are widened to it, so that equal searches a little later have equal queries.
const STEP_MILLIS: i64 = 60 * 60 * 1_000;

/// Returns false if no result of a provider can meet the request: pages have no labels, and none is on an empty list of domains.
pub fn concerns_providers(request: &SearchRequest) -> bool {
    let policy = &request.source_policy;
    request.labels.is_empty() && !(policy.require_domain_match && policy.include_domains.is_empty())
}

/// Returns the query of a search: its first rewrite, and those of its filters that providers know. A single required domain becomes
/// an operator.
pub fn web_query(request: &SearchRequest) -> WebQuery {
    let policy = &request.source_policy;
    let site = match policy.include_domains.as_slice() {
        [site] if policy.require_domain_match => Some(site.to_string()),
        _ => None,
    };
    WebQuery {
        text: request.texts().first().copied().unwrap_or_default().to_owned(),
        exact_match: request.exact_match,
        site,
        country: request.country.clone(),
        language: request.language.clone(),
        published_after: request.published_after.map(|time| rounded(time, 0)),
        published_before: request.published_before.map(|time| rounded(time, STEP_MILLIS - 1)),
    }
}

/// Rounds down to a whole step, after adding `millis`.
fn rounded(time: Timestamp, millis: i64) -> Timestamp {
    let time = time.as_millis().saturating_add(millis);
    Timestamp::from_millis(time - time.rem_euclid(STEP_MILLIS))
}
