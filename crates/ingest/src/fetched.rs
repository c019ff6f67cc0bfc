//! Web pages as they were fetched: request of their extraction, and their document.

use docstore::NewDocument;
use extract::{ExtractRequest, Extracted};
use fetcher::{FetchedPage, Validators};
use file_types::FileKind;
use model::Timestamp;

use crate::prepare::{self, Source};

/// Returns the request to extract the text of a page.
pub fn extract_request(page: &FetchedPage) -> ExtractRequest {
    ExtractRequest {
        base_url: Some(page.final_url.to_string()),
        charset: page.charset.clone(),
        ..ExtractRequest::new(page.kind, file_name(page))
    }
}

/// Builds the document of a page that was fetched from `final_url`, with the validators of its next request. See
/// [`prepare::document`] for `read_at`.
pub fn document(
    source: Source,
    extracted: Extracted,
    final_url: String,
    validators: Option<Validators>,
    read_at: Timestamp,
) -> NewDocument {
    let mut new = prepare::document(source, extracted.into(), read_at);
    new.capture.fetched_from = Some(final_url);
    if let Some(validators) = validators {
        (new.capture.etag, new.capture.last_modified) = (validators.etag, validators.last_modified);
    }
    new
}

/// Returns the file name, the fallback title of a document. Empty for web pages.
fn file_name(page: &FetchedPage) -> String {
    if page.kind == FileKind::Html {
        return String::new();
    }
    let last = page.final_url.path_segments().and_then(|mut segments| segments.next_back()).unwrap_or_default();
    percent_encoding::percent_decode_str(last).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn files_are_named_by_their_urls_and_pages_are_not() {
        for (kind, url, expected) in [
            (FileKind::Pdf, "https://example.com/a/Year%20report.pdf?x=1", "Year report.pdf"),
            (FileKind::Pdf, "https://example.com/", ""),
            (FileKind::Html, "https://example.com/a/page.html", ""),
        ] {
            let page = FetchedPage {
                final_url: url::Url::parse(url).unwrap(),
                status: 200,
                kind,
                content_type: None,
                charset: Some("utf-8".to_owned()),
                body: Default::default(),
                validators: None,
                redirects: 0,
            };
            let request = extract_request(&page);
            assert_eq!((request.name.as_str(), request.base_url.as_deref()), (expected, Some(url)));
            assert_eq!((request.kind, request.charset), (kind, page.charset));
        }
    }
}
