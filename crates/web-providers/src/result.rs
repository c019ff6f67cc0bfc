//! Results of providers.

use std::collections::HashSet;

use model::{DocId, Timestamp};
use retrieval_core::url::CanonicalUrl;

use crate::text::clean;

/// Maximum number of results of one response.
pub const MAX_RESULTS: usize = 50;
/// Maximum length of a title, in characters.
pub const MAX_TITLE_CHARS: usize = 300;
/// Maximum length of a snippet, in characters.
pub const MAX_SNIPPET_CHARS: usize = 2_000;

/// A page that a provider found. Its texts are plain and bounded.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WebResult {
    pub url: CanonicalUrl,
    /// Address as the provider gave it.
    pub source_url: String,
    /// Empty if the provider gave none.
    pub title: String,
    /// Text that the provider shows of the page; empty if it gave none.
    pub snippet: String,
    pub published_at: Option<Timestamp>,
    /// Two letters, lowercase.
    pub language: Option<String>,
}

impl WebResult {
    /// Creates a result from what a provider sent. `None` unless the address is that of a web page.
    pub fn new(url: &str, title: &str, snippet: &str) -> Option<Self> {
        Some(Self {
            url: CanonicalUrl::parse(url).ok()?,
            source_url: url.trim().to_owned(),
            title: clean(title, MAX_TITLE_CHARS),
            snippet: clean(snippet, MAX_SNIPPET_CHARS),
            published_at: None,
            language: None,
        })
    }

    pub fn doc_id(&self) -> DocId {
        self.url.doc_id()
    }
}

/// Filters that a provider applied itself: results whose value is unknown pass them. That of publication times is not among them,
/// because only known times pass it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Applied {
    pub country: bool,
    pub language: bool,
}

/// Answer of a provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WebResponse {
    /// Best first.
    pub results: Vec<WebResult>,
    pub applied: Applied,
}

impl WebResponse {
    /// Collects results, best first, up to [`MAX_RESULTS`]. Of several results with one address it keeps the first.
    pub fn new(results: impl IntoIterator<Item = WebResult>, applied: Applied) -> Self {
        let mut known = HashSet::new();
        let distinct = results.into_iter().filter(|result| known.insert(result.doc_id()));
        Self { results: distinct.take(MAX_RESULTS).collect(), applied }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn only_addresses_of_pages_are_results() {
        for url in [
            "javascript:alert(1)",
            "file:///etc/passwd",
            "//a.example",
            "https://u:p@a.example/",
            "",
            "http://a\u{0}b/",
        ] {
            assert_eq!(WebResult::new(url, "t", "s"), None, "{url}");
        }
        assert_eq!(WebResult::new(&format!("https://a.example/{}", "x".repeat(1 << 20)), "t", "s"), None);
        let result = WebResult::new(" HTTPS://A.example/b?utm_source=x#c ", "t", "s").unwrap();
        assert_eq!(
            (result.url.as_str(), result.source_url.as_str()),
            ("https://a.example/b", "HTTPS://A.example/b?utm_source=x#c")
        );
    }

    #[test]
    fn responses_are_bounded_and_have_no_duplicates() {
        let result = |number: usize| WebResult::new(&format!("https://a.example/{}", number / 2), "t", "s");
        let response = WebResponse::new((0..500).filter_map(result), Applied::default());
        assert_eq!(response.results.len(), MAX_RESULTS);
        assert_eq!(response.results[1].url.as_str(), "https://a.example/1");
    }
}
