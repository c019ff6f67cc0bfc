//! Reading a URL as markdown: `/read/{url}`.

use api_types::{ContentFormat, DocumentRequest};
use percent_encoding::percent_decode_str;

use crate::document::{self, Failure};
use crate::{ReadOutcome, Refusal};

/// Returns the URL of a request: `path` is the raw path after `/read/`, `query` the raw query of the request.
///
/// # Errors
/// Returns a refusal for an empty URL and for one that is not percent-encoded UTF-8.
pub fn target(path: &str, query: &str) -> Result<String, Refusal> {
    let invalid = |message: &str| Refusal::new("url", message);
    let mut url = if let Some(rest) = after_scheme(path, "https:/") {
        format!("https://{rest}")
    } else if let Some(rest) = after_scheme(path, "http:/") {
        format!("http://{rest}")
    } else {
        let decoded = percent_decode_str(path).decode_utf8();
        decoded.map_err(|_| invalid("the URL must be percent-encoded UTF-8"))?.into_owned()
    };
    if url.trim().is_empty() {
        return Err(invalid("append the URL of the page: `/read/https://example.com/`"));
    }
    if !query.is_empty() {
        // The query is the page's own, whether or not the rest is encoded.
        url.push(if url.contains('?') { '&' } else { '?' });
        url.push_str(query);
    }
    Ok(url)
}

/// Returns the rest of a URL that stands in the path as it is. Some proxies merge its two slashes.
fn after_scheme<'a>(path: &'a str, scheme: &str) -> Option<&'a str> {
    let start = path.get(..scheme.len())?;
    start.eq_ignore_ascii_case(scheme).then(|| path[scheme.len()..].trim_start_matches('/'))
}

/// Returns the read of a URL.
pub fn read(url: &str) -> DocumentRequest {
    document::whole(url, ContentFormat::Markdown, None)
}

/// Returns the markdown of the page.
///
/// # Errors
/// Returns the reason that there is none.
pub fn markdown(outcome: ReadOutcome) -> Result<String, Failure> {
    document::text(&outcome)?;
    // Moved: it may be long.
    Ok(outcome?.content.map(|content| content.text).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_encoded_and_as_they_are() {
        for (path, query, url) in [
            ("https://example.com/a", "", "https://example.com/a"),
            ("https://example.com/a%2Fb%20c", "x=1&y=%20", "https://example.com/a%2Fb%20c?x=1&y=%20"),
            ("HTTP:/example.com/a//b", "", "http://example.com/a//b"),
            ("https%3A%2F%2Fexample.com%2Fa%3Fb%3D1%26c%3D%2520", "", "https://example.com/a?b=1&c=%20"),
            ("https%3A%2F%2Fexample.com%2Fa%3Fb%3D1", "c=2", "https://example.com/a?b=1&c=2"),
            ("example.com/a", "", "example.com/a"),
            ("httpsé", "", "httpsé"),
        ] {
            assert_eq!(target(path, query).as_deref(), Ok(url), "{path}");
        }
        for (path, query) in [("", ""), ("%20", ""), ("", "https://example.com"), ("%ff", "")] {
            assert!(target(path, query).is_err(), "{path}");
        }
    }
}
