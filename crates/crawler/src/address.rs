//! URLs as a crawl identifies them.

use model::DocId;
use retrieval_core::url::{CanonicalUrl, UrlError};
use sha2::{Digest, Sha256};
use url::Url;

/// Parameters that name a session, in lowercase.
const SESSION_PARAMETERS: [&str; 8] =
    ["aspsessionid", "cfid", "cftoken", "jsessionid", "phpsessid", "sessid", "sessionid", "zenid"];
/// Parameters that name a session, or anything else: the session of a conference, an article, a station.
const AMBIGUOUS_PARAMETERS: [&str; 4] = ["s_id", "session", "session_id", "sid"];
/// Minimum length of the id of a session: shorter ones could be guessed.
const MIN_SESSION_ID: usize = 16;

/// Canonical URL. Links have no session ids.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Address {
    pub url: String,
    /// Host, with the port unless it is the scheme's.
    pub host: String,
    /// True if the URL contained a session id.
    pub had_session: bool,
    path: usize,
}

impl Address {
    /// Canonicalizes the URL of a link, without session ids.
    ///
    /// # Errors
    /// [`UrlError`].
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let canonical = CanonicalUrl::parse(text)?;
        match without_session(canonical.as_str()) {
            Some(stripped) => Ok(Self { had_session: true, ..Self::of(&CanonicalUrl::parse(&stripped)?) }),
            None => Ok(Self::of(&canonical)),
        }
    }

    /// Canonicalizes a URL and keeps session ids: those of seeds and sitemaps are meant, and pages that were not crawled may have some.
    ///
    /// # Errors
    /// [`UrlError`].
    pub fn exact(text: &str) -> Result<Self, UrlError> {
        Ok(Self::of(&CanonicalUrl::parse(text)?))
    }

    /// Resolves a link of a page. Returns `None` if it leads to no web page.
    pub fn resolve(link: &str, base: &Url) -> Option<Self> {
        Self::parse(join(link, base)?.as_str()).ok()
    }

    /// Resolves a link of a sitemap or feed, or that of robots.txt to one. Returns `None` if it leads to no web page.
    pub fn resolve_exact(link: &str, base: &Url) -> Option<Self> {
        Self::exact(join(link, base)?.as_str()).ok()
    }

    fn of(url: &CanonicalUrl) -> Self {
        let text = url.as_str();
        let authority = text.find("://").map_or(0, |at| at + 3);
        let path = text[authority..].find('/').map_or(text.len(), |at| authority + at);
        Self { url: text.to_owned(), host: text[authority..path].to_owned(), had_session: false, path }
    }

    pub fn doc_id(&self) -> DocId {
        retrieval_core::url::document_id(&self.url)
    }

    /// Returns true if a link leads back to this page. Session ids of links are removed, but the page itself may have one.
    pub fn is_target_of(&self, link: &Self) -> bool {
        let without_session = || Self::parse(&self.url).map(|address| address.url);
        link.url == self.url || (link.had_session && without_session().is_ok_and(|url| url == link.url))
    }

    /// Returns true if `url` names this page in any spelling, or with what canonical URLs lack, such as tracking parameters.
    pub fn is_named_by(&self, url: &str) -> bool {
        Self::exact(url).is_ok_and(|address| address.url == self.url)
    }

    pub fn path_and_query(&self) -> &str {
        &self.url[self.path..]
    }

    pub fn path(&self) -> &str {
        self.path_and_query().split('?').next().unwrap_or_default()
    }

    pub fn query(&self) -> Option<&str> {
        self.path_and_query().split_once('?').map(|(_, query)| query)
    }

    /// Returns a hash of host and path of a URL with parameters.
    pub fn path_key(&self) -> Option<i64> {
        self.query()?;
        let digest = Sha256::digest(format!("{}{}", self.host, self.path()));
        digest.first_chunk::<8>().map(|bytes| i64::from_be_bytes(*bytes))
    }

    /// Returns the URL with its numbers and the values of its parameters replaced: generated series have one shape.
    pub fn shape(&self) -> String {
        let names: Vec<&str> = self
            .query()
            .map(|query| query.split('&').filter_map(|part| part.split('=').next()).collect())
            .unwrap_or_default();
        let mut shape = format!("{}{}?{}", self.host, self.path(), names.join("&"));
        shape = shape
            .split(|character: char| character.is_ascii_digit())
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("#");
        shape
    }
}

fn join(link: &str, base: &Url) -> Option<Url> {
    let mut url = base.join(link.trim()).ok()?;
    url.set_fragment(None);
    Some(url)
}

/// Returns true if a parameter has the id of a session.
fn is_session(parameter: &str) -> bool {
    let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
    let name = name.to_ascii_lowercase();
    SESSION_PARAMETERS.contains(&name.as_str())
        || name.starts_with("aspsessionid")
        || (AMBIGUOUS_PARAMETERS.contains(&name.as_str()) && is_session_id(value))
}

/// Returns true if a value looks like a random id. Words that are joined by hyphens have no digit, mostly.
fn is_session_id(value: &str) -> bool {
    value.len() >= MIN_SESSION_ID
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b',' | b'-'))
        && value.bytes().any(|byte| byte.is_ascii_digit())
}

/// Removes session ids from path and query. Returns `None` if there are none.
fn without_session(url: &str) -> Option<String> {
    let (path, query) = url.split_once('?').map_or((url, None), |(path, query)| (path, Some(query)));
    let mut segments = path.split(';');
    let mut kept = segments.next().unwrap_or_default().to_owned();
    for parameter in segments {
        // The rest of a path may follow the parameter of a segment.
        let (parameter, rest) = parameter.find('/').map_or((parameter, ""), |at| parameter.split_at(at));
        if !is_session(parameter) {
            kept.push(';');
            kept.push_str(parameter);
        }
        kept.push_str(rest);
    }
    let parameters: Vec<&str> = query.map(|query| query.split('&').collect()).unwrap_or_default();
    let rest: Vec<&str> = parameters.iter().copied().filter(|parameter| !is_session(parameter)).collect();
    if kept.len() == path.len() && rest.len() == parameters.len() {
        return None;
    }
    if !rest.is_empty() {
        kept.push('?');
        kept.push_str(&rest.join("&"));
    }
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_ids_are_removed() {
        for (url, expected, had_session) in [
            ("http://h.example/a;jsessionid=1A?x=1", "http://h.example/a?x=1", true),
            ("http://h.example/a;JSESSIONID=1A/b", "http://h.example/a/b", true),
            ("http://h.example/a?PHPSESSID=1&x=1", "http://h.example/a?x=1", true),
            ("http://h.example/a?phpsessid", "http://h.example/a", true),
            ("http://h.example/a?sid=0123456789abcdef", "http://h.example/a", true),
            ("http://h.example/a;SID=a,b-c,d-e,f-g0123", "http://h.example/a", true),
            ("http://h.example/a?session=9f86d081-884c-4d63-a5e3-000000000000&x=1", "http://h.example/a?x=1", true),
            ("http://h.example/a;v=1?side=1", "http://h.example/a;v=1?side=1", false),
            ("http://h.example/a?sid=0123456789abcde", "http://h.example/a?sid=0123456789abcde", false),
            ("http://h.example/a?session=12&s_id=&sid", "http://h.example/a?session=12&s_id=&sid", false),
            (
                "http://h.example/a?session_id=0123456789_abcdef",
                "http://h.example/a?session_id=0123456789_abcdef",
                false,
            ),
            (
                "http://h.example/a?session=the-future-of-search",
                "http://h.example/a?session=the-future-of-search",
                false,
            ),
            ("http://h.example/a#x", "http://h.example/a", false),
        ] {
            let address = Address::parse(url).expect("a URL");
            assert_eq!((address.url.as_str(), address.had_session), (expected, had_session));
        }
    }

    #[test]
    fn links_with_a_session_lead_back_to_the_page_without_it() {
        for (page, link, expected) in [
            ("http://h.example/a", "http://h.example/a?phpsessid=2", true),
            ("http://h.example/a?phpsessid=1", "http://h.example/a?phpsessid=2", true),
            ("http://h.example/a?phpsessid=1", "http://h.example/a", false),
            ("http://h.example/a?phpsessid=1", "http://h.example/b?phpsessid=1", false),
        ] {
            let (page, link) = (Address::exact(page).expect("a URL"), Address::parse(link).expect("a URL"));
            assert_eq!(page.is_target_of(&link), expected, "{page:?} {link:?}");
        }
    }

    #[test]
    fn spellings_of_a_page_have_its_canonical_url() {
        let page = Address::exact("http://h.example/~a?x=%2F").expect("a URL");
        for (url, expected) in [
            ("http://h.example/~a?x=%2F", true),
            ("http://H.example:80/%7ea?x=%2f&utm_source=y#z", true),
            ("http://h.example/~a?x=/", false),
            ("http://h.example/~a?x=%2F&phpsessid=1", false),
            ("https://h.example/~a?x=%2F", false),
            ("/~a?x=%2F", false),
        ] {
            assert_eq!(page.is_named_by(url), expected, "{url}");
        }
    }

    #[test]
    fn host_has_the_port_unless_it_is_the_schemes() {
        for (url, host, rest) in [
            ("https://h.example:443/a?b", "h.example", "/a?b"),
            ("http://h.example", "h.example", "/"),
            ("http://127.0.0.2:8080/x", "127.0.0.2:8080", "/x"),
            ("http://[::1]:81/x", "[::1]:81", "/x"),
        ] {
            let address = Address::parse(url).expect("a URL");
            assert_eq!((address.host.as_str(), address.path_and_query()), (host, rest));
        }
    }

    #[test]
    fn series_have_one_shape() {
        let shape = |url: &str| Address::parse(url).expect("a URL").shape();
        assert_eq!(shape("http://h.example/2024/05?x=1&y=2"), shape("http://h.example/1999/12?x=a&y=b"));
        assert_ne!(shape("http://h.example/a/1"), shape("http://h.example/b/1"));
        assert_ne!(shape("http://h.example/a?x=1"), shape("http://h.example/a?y=1"));
    }

    #[test]
    fn path_key_ignores_the_query() {
        let key = |url: &str| Address::parse(url).expect("a URL").path_key();
        assert_eq!(key("http://h.example/a?x=1"), key("http://h.example/a?y=2"));
        assert_ne!(key("http://h.example/a?x=1"), key("http://h.example/b?x=1"));
        assert_eq!(key("http://h.example/a"), None);
    }
}
