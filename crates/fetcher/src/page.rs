//! Request and result of a fetch.

use bytes::Bytes;
use file_types::{ContentType, FileKind};
use model::OrganizationId;
use reqwest::header::{ETAG, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED};
use url::Url;

use crate::page_kind::Declared;

/// Request for one page.
#[derive(Clone, Debug)]
pub struct FetchRequest {
    /// Organization whose turn the fetch is.
    pub organization_id: OrganizationId,
    /// Absolute http or https URL without credentials. A fragment is dropped.
    pub url: String,
    /// Validators of the caller's copy: an unchanged page is not sent again.
    pub validators: Option<Validators>,
}

impl FetchRequest {
    pub fn new(organization_id: OrganizationId, url: impl Into<String>) -> Self {
        Self { organization_id, url: url.into(), validators: None }
    }
}

/// Cache validators of a page (RFC 9110, 8.8). Opaque: store them with a copy and pass them to the next request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Validators {
    /// URL of the page after all redirects. The validators are sent only to this URL.
    pub url: String,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

/// Result of a successful fetch.
#[derive(Clone, Debug)]
pub enum Fetched {
    /// The copy that the request's validators describe is still current.
    NotModified,
    Page(Box<FetchedPage>),
}

/// Fetched page, decompressed.
#[derive(Clone, Debug)]
pub struct FetchedPage {
    /// URL after all redirects, without a fragment.
    pub final_url: Url,
    /// 200 or 203.
    pub status: u16,
    pub kind: FileKind,
    /// Raw `Content-Type` header; `kind` is its interpretation.
    pub content_type: Option<String>,
    /// Lowercase encoding from the header. It may be unknown or wrong.
    pub charset: Option<String>,
    pub body: Bytes,
    /// Validators for the next request, if the server sent any.
    pub validators: Option<Validators>,
    /// Number of redirects followed.
    pub redirects: usize,
}

impl FetchedPage {
    /// Returns the media type that the server declares, or that of the kind if it declares none, a generic one, or one that
    /// the extension of the URL makes more precise.
    pub fn media_type(&self) -> String {
        let declared = self.content_type.as_deref().map(ContentType::parse);
        match (Declared::read(declared.as_ref(), None), declared) {
            (Declared::Kind(kind), Some(declared)) if kind == self.kind => declared.media_type,
            _ => self.kind.media_type().to_owned(),
        }
    }
}

/// Longer validators are ignored.
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

    /// Returns the headers for a conditional request to `url`, or none if the validators belong to another URL.
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

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn media_type_is_the_declared_one_unless_the_kind_says_more() {
        for (content_type, kind, expected) in [
            (Some("Application/JSON; charset=utf-8"), FileKind::Txt, "application/json"),
            (Some("application/rss+xml"), FileKind::Txt, "application/rss+xml"),
            (Some("application/xhtml+xml"), FileKind::Html, "application/xhtml+xml"),
            (Some("text/plain"), FileKind::Md, "text/markdown"),
            (Some("application/vnd.ms-excel"), FileKind::Csv, "text/csv"),
            (Some("binary/octet-stream"), FileKind::Txt, "text/plain"),
            (Some("application/octet-stream"), FileKind::Html, "text/html"),
            (Some("application/x-download"), FileKind::Pdf, "application/pdf"),
            (Some("*/*"), FileKind::Txt, "text/plain"),
            (Some("html"), FileKind::Html, "text/html"),
            (None, FileKind::Pdf, "application/pdf"),
        ] {
            let page = FetchedPage {
                final_url: Url::parse("https://example.com/").unwrap(),
                status: 200,
                kind,
                content_type: content_type.map(str::to_owned),
                charset: None,
                body: Bytes::new(),
                validators: None,
                redirects: 0,
            };
            assert_eq!(page.media_type(), expected, "{content_type:?}");
        }
    }
}
