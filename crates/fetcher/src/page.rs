//! What a fetch is asked for, and what it brings.

use bytes::Bytes;
use file_types::FileKind;
use reqwest::header::{ETAG, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED};
use url::Url;

/// A page to be fetched.
#[derive(Clone, Debug, Default)]
pub struct FetchRequest {
    /// An absolute http or https URL without credentials. A fragment is dropped.
    pub url: String,
    /// Of the copy that the caller has: a page that did not change is not sent again.
    pub validators: Option<Validators>,
}

impl FetchRequest {
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), validators: None }
    }
}

/// What a server calls the state of a page (RFC 9110, 8.8). Opaque: to be kept with a copy, and given back.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Validators {
    /// The page they are of, behind all redirects. They are sent to no other.
    pub url: String,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

/// What came of a fetch.
#[derive(Clone, Debug)]
pub enum Fetched {
    /// The copy that the request's validators are of is still the page.
    NotModified,
    Page(Box<FetchedPage>),
}

/// A page as it was sent, decompressed.
#[derive(Clone, Debug)]
pub struct FetchedPage {
    /// Where it was found, behind all redirects; without a fragment.
    pub final_url: Url,
    /// 200, or another success.
    pub status: u16,
    pub kind: FileKind,
    /// The header, for the record; `kind` is what it means.
    pub content_type: Option<String>,
    /// The encoding that the header names, in lowercase; it need not exist, nor be the true one.
    pub charset: Option<String>,
    pub body: Bytes,
    /// For the next request; `None` where the server gives none.
    pub validators: Option<Validators>,
    /// How many redirects led here.
    pub redirects: usize,
}

/// A longer validator is not worth its space.
const MAX_VALIDATOR: usize = 1024;

impl Validators {
    pub(crate) fn read(url: &Url, headers: &HeaderMap) -> Option<Self> {
        let read = |name: HeaderName| {
            let value = headers.get(name)?.to_str().ok()?.trim();
            (!value.is_empty() && value.len() <= MAX_VALIDATOR).then(|| value.to_owned())
        };
        let (etag, last_modified) = (read(ETAG), read(LAST_MODIFIED));
        (etag.is_some() || last_modified.is_some()).then(|| Self { url: url.to_string(), etag, last_modified })
    }

    /// The headers that make a request for `url` a conditional one; none for another page than theirs.
    pub(crate) fn headers(&self, url: &Url) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if self.url != url.as_str() {
            return headers;
        }
        for (name, value) in [(IF_NONE_MATCH, &self.etag), (IF_MODIFIED_SINCE, &self.last_modified)] {
            if let Some(value) = value.as_deref().and_then(|value| HeaderValue::from_str(value).ok()) {
                headers.insert(name, value);
            }
        }
        headers
    }
}
