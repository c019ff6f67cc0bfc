//! Filters of a search on the results of providers.

use docstore::Document;
use engine::UnknownValues;
use model::Timestamp;
use web_providers::Applied;

use super::super::SearchRequest;

/// Outcome of one filter.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Fit {
    Meets,
    Fails,
    Unknown,
}

/// Returns true if a document, published at that time, meets the filters, as one of the index would. An unknown language or country meets a filter that the
/// provider applied, an unknown time of publication none. Documents that fail only for lack of a value are counted in `unknown`.
pub fn admits(
    request: &SearchRequest,
    document: &Document,
    published_at: Option<Timestamp>,
    applied: Applied,
    unknown: &mut UnknownValues,
) -> bool {
    let language = equal(request.language.as_deref(), document.language.as_deref(), applied.language);
    let country = equal(request.country.as_deref(), document.country.as_deref(), applied.country);
    let published = published(request, published_at);
    let all = [language, country, published];
    if all.contains(&Fit::Fails) {
        return false;
    }
    let lacks = |fit| u64::from(fit == Fit::Unknown);
    *unknown += UnknownValues { language: lacks(language), country: lacks(country), published_at: lacks(published) };
    all == [Fit::Meets; 3]
}

/// Returns the values for lack of which the index counts a document that matches the rest of the search.
pub fn lacking(request: &SearchRequest, document: &Document) -> UnknownValues {
    let mut unknown = UnknownValues::default();
    admits(request, document, document.published_at, Applied::default(), &mut unknown);
    unknown
}

fn equal(wanted: Option<&str>, value: Option<&str>, is_applied: bool) -> Fit {
    match (wanted, value) {
        (None, _) => Fit::Meets,
        (Some(wanted), Some(value)) if wanted == value => Fit::Meets,
        (Some(_), Some(_)) => Fit::Fails,
        (Some(_), None) if is_applied => Fit::Meets,
        (Some(_), None) => Fit::Unknown,
    }
}

fn published(request: &SearchRequest, published_at: Option<Timestamp>) -> Fit {
    let (after, before) = (request.published_after, request.published_before);
    match published_at {
        _ if after.is_none() && before.is_none() => Fit::Meets,
        Some(at) if after.is_none_or(|after| at > after) && before.is_none_or(|before| at < before) => Fit::Meets,
        Some(_) => Fit::Fails,
        None => Fit::Unknown,
    }
}
