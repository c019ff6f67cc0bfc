//! Brave Search, by its Web Search API.

use std::time::Duration;

use async_trait::async_trait;
use model::Timestamp;
use serde_json::Value;
use time::OffsetDateTime;
use web_providers::{Applied, ProviderError, TextLimits, WebProvider, WebQuery, WebResponse, WebResult, parse_date};

use crate::endpoint::{Endpoint, EndpointError};

/// Limits of the API.
const TEXT: TextLimits = TextLimits { chars: 400, words: 50 };
const COUNT: &str = "20";
const KEY_HEADER: &str = "X-Subscription-Token";

/// Countries that the API accepts; it refuses requests with others.
const COUNTRIES: [&str; 37] = [
    "ar", "at", "au", "be", "br", "ca", "ch", "cl", "cn", "de", "dk", "es", "fi", "fr", "gb", "hk", "id", "in", "it",
    "jp", "kr", "mx", "my", "nl", "no", "nz", "ph", "pl", "pt", "ru", "sa", "se", "tr", "tw", "us", "za", "gr",
];

/// Languages that the API accepts under their ISO 639-1 code.
const LANGUAGES: [&str; 45] = [
    "ar", "bg", "bn", "ca", "cs", "da", "de", "en", "es", "et", "eu", "fi", "fr", "gl", "gu", "he", "hi", "hr", "hu",
    "is", "it", "kn", "ko", "lt", "lv", "ml", "mr", "ms", "nb", "nl", "pa", "pl", "ro", "ru", "sk", "sl", "sr", "sv",
    "ta", "te", "th", "tr", "uk", "vi", "el",
];

#[derive(Clone)]
pub struct BraveOptions {
    /// The API, or a proxy with the same interface.
    pub url: String,
    pub api_key: String,
    pub timeout: Duration,
}

pub struct Brave {
    endpoint: Endpoint,
}

impl Brave {
    /// Builds the client without connecting.
    ///
    /// # Errors
    /// The URL or the key is invalid.
    pub fn new(options: &BraveOptions) -> Result<Self, EndpointError> {
        let header = Some((KEY_HEADER, options.api_key.as_str()));
        Ok(Self { endpoint: Endpoint::new(&options.url, header, options.timeout, hint)? })
    }
}

fn hint(status: u16) -> &'static str {
    match status {
        401 | 403 => "check `web.brave.api_key`",
        402 => "the plan of `web.brave.api_key` is used up",
        422 => "the key or a parameter is invalid: check `web.brave.api_key`",
        _ => "check `web.brave.url`",
    }
}

#[async_trait]
impl WebProvider for Brave {
    fn name(&self) -> &'static str {
        "brave"
    }

    async fn search(&self, query: &WebQuery, now: Timestamp) -> Result<WebResponse, ProviderError> {
        let text = query.operators(TEXT);
        if text.is_empty() {
            return Ok(WebResponse::default());
        }
        let country = query.country.as_deref().filter(|country| COUNTRIES.contains(country)).map(str::to_uppercase);
        let language =
            query.language.as_deref().and_then(|language| search_language(language, query.country.as_deref()));
        let freshness = freshness(query, now);
        // Without decorations: they mark matches with tags.
        let mut parameters =
            vec![("q", text.as_str()), ("count", COUNT), ("result_filter", "web"), ("text_decorations", "false")];
        parameters.extend(country.as_deref().map(|country| ("country", country)));
        parameters.extend(language.map(|language| ("search_lang", language)));
        parameters.extend(freshness.as_deref().map(|freshness| ("freshness", freshness)));
        let applied = Applied { country: country.is_some(), language: language.is_some() };
        response(&self.endpoint.get(&parameters).await?, applied)
    }
}

/// Returns the API's code of a language.
fn search_language(language: &str, country: Option<&str>) -> Option<&'static str> {
    match (language, country) {
        ("ja", _) => Some("jp"),
        ("no" | "nn", _) => Some("nb"),
        ("pt", Some("br")) => Some("pt-br"),
        ("pt", _) => Some("pt-pt"),
        ("zh", Some("tw" | "hk")) => Some("zh-hant"),
        ("zh", _) => Some("zh-hans"),
        _ => LANGUAGES.into_iter().find(|known| *known == language),
    }
}

/// Returns the range of days that covers the publication times.
fn freshness(query: &WebQuery, now: Timestamp) -> Option<String> {
    if query.published_after.is_none() && query.published_before.is_none() {
        return None;
    }
    let after = query.published_after.unwrap_or(Timestamp::UNIX_EPOCH);
    let before = query.published_before.unwrap_or(now).max(after);
    Some(format!("{}to{}", day(after)?, day(before)?))
}

fn day(time: Timestamp) -> Option<String> {
    let seconds = time.as_millis().div_euclid(1_000);
    let date = OffsetDateTime::from_unix_timestamp(seconds).ok()?.date();
    (0..=9999)
        .contains(&date.year())
        .then(|| format!("{:04}-{:02}-{:02}", date.year(), u8::from(date.month()), date.day()))
}

fn response(answer: &Value, applied: Applied) -> Result<WebResponse, ProviderError> {
    let items = match (answer.pointer("/web/results"), answer.get("web")) {
        (Some(Value::Array(items)), _) => items.as_slice(),
        // Sections without results are left out.
        (None, None) if answer.get("type").and_then(Value::as_str) == Some("search") => &[],
        _ => return Err(ProviderError::InvalidResponse("it has no list `web.results`".to_owned())),
    };
    Ok(WebResponse::new(items.iter().filter_map(result), applied))
}

fn result(item: &Value) -> Option<WebResult> {
    let text = |name| item.get(name).and_then(Value::as_str).unwrap_or_default();
    let extra = item.get("extra_snippets").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let snippets = std::iter::once(text("description")).chain(extra.iter().filter_map(Value::as_str));
    let snippet: Vec<&str> = snippets.filter(|text| !text.is_empty()).collect();
    let result = WebResult::new(text("url"), text("title"), &snippet.join(" "))?;
    let language = Some(text("language").to_ascii_lowercase()).filter(|code| code.len() == 2);
    Some(WebResult { published_at: parse_date(text("page_age")), language, ..result })
}
