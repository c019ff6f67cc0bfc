//! SearXNG, by its JSON API.

use std::time::Duration;

use async_trait::async_trait;
use model::Timestamp;
use serde_json::Value;
use web_providers::{Applied, ProviderError, TextLimits, WebProvider, WebQuery, WebResponse, WebResult, parse_date};

use crate::endpoint::{Endpoint, EndpointError};

/// The text is part of a URL, which servers limit to 8 kB.
const TEXT: TextLimits = TextLimits { chars: 500, words: 100 };

/// Lengths of the ranges, with an hour for what callers round.
const RANGES: [(Duration, &str); 4] = [
    (Duration::from_hours(24 + 1), "day"),
    (Duration::from_hours(7 * 24 + 1), "week"),
    (Duration::from_hours(31 * 24 + 1), "month"),
    (Duration::from_hours(365 * 24 + 1), "year"),
];

#[derive(Clone, Debug)]
pub struct SearxngOptions {
    /// Base URL, with or without `/search`.
    pub url: String,
    pub timeout: Duration,
}

pub struct Searxng {
    endpoint: Endpoint,
}

impl Searxng {
    /// Builds the client without connecting.
    ///
    /// # Errors
    /// The URL is invalid.
    pub fn new(options: &SearxngOptions) -> Result<Self, EndpointError> {
        let base = options.url.trim_end_matches('/');
        let url = if base.ends_with("/search") { base.to_owned() } else { format!("{base}/search") };
        Ok(Self { endpoint: Endpoint::new(&url, None, options.timeout, hint)? })
    }
}

fn hint(status: u16) -> &'static str {
    match status {
        403 => "add `json` to `search.formats` in the settings of SearXNG",
        _ => "check `web.searxng.url`",
    }
}

#[async_trait]
impl WebProvider for Searxng {
    fn name(&self) -> &'static str {
        "searxng"
    }

    async fn search(&self, query: &WebQuery, now: Timestamp) -> Result<WebResponse, ProviderError> {
        let text = query.operators(TEXT);
        if text.is_empty() {
            return Ok(WebResponse::default());
        }
        let locale = locale(query);
        let range = query.published_after.and_then(|after| range(now.since(after)));
        let mut parameters = vec![("q", text.as_str()), ("format", "json")];
        parameters.extend(locale.as_deref().map(|locale| ("language", locale)));
        parameters.extend(range.map(|name| ("time_range", name)));
        let applied = Applied { country: locale.is_some() && query.country.is_some(), language: locale.is_some() };
        response(&self.endpoint.get(&parameters).await?, applied)
    }
}

/// Returns the locale of a language, which may have a region. A region alone cannot be asked for.
fn locale(query: &WebQuery) -> Option<String> {
    let language = query.language.as_ref()?;
    Some(match &query.country {
        Some(country) => format!("{language}-{}", country.to_uppercase()),
        None => language.clone(),
    })
}

/// Returns the shortest range that covers the time. `None` if all are shorter.
fn range(age: Duration) -> Option<&'static str> {
    RANGES.into_iter().find(|(length, _)| age <= *length).map(|(_, name)| name)
}

fn response(answer: &Value, applied: Applied) -> Result<WebResponse, ProviderError> {
    let Some(items) = answer.get("results").and_then(Value::as_array) else {
        return Err(ProviderError::InvalidResponse("it has no list `results`".to_owned()));
    };
    let failed = answer.get("unresponsive_engines").and_then(Value::as_array).map_or(0, Vec::len);
    if items.is_empty() && failed > 0 {
        return Err(ProviderError::InvalidResponse(format!("no results, and {failed} engines of SearXNG failed")));
    }
    Ok(WebResponse::new(items.iter().filter_map(result), applied))
}

fn result(item: &Value) -> Option<WebResult> {
    let text = |name| item.get(name).and_then(Value::as_str).unwrap_or_default();
    let result = WebResult::new(text("url"), text("title"), text("content"))?;
    Some(WebResult { published_at: parse_date(text("publishedDate")), ..result })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortest_range_covers_the_time() {
        let days = |days: u64| range(Duration::from_hours(24 * days));
        assert_eq!((days(0), days(1)), (Some("day"), Some("day")));
        assert_eq!((days(2), days(7)), (Some("week"), Some("week")));
        assert_eq!((days(10), days(31)), (Some("month"), Some("month")));
        assert_eq!((days(100), days(365), days(400)), (Some("year"), Some("year"), None));
    }
}
