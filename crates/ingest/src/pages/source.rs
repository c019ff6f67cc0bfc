//! Reading of pages from their sites: fetch and extraction.

use std::sync::Arc;
use std::time::Duration;

use extract::{ExtractRequest, Extracted};
use extract_worker::{Compartment, Extractor, Input};
use fetcher::{FetchError, FetchRequest, Fetched, FetchedPage, Fetcher, Validators};
use file_types::{ContentType, FileKind};
use model::IndexName;

use super::failure_cache::Cause;
use super::single_flight::SingleFlight;
use super::{Failure, PageError, UnreadableReason};

/// Page as its site serves it to everyone.
pub struct SourcePage {
    /// URL after redirects.
    pub final_url: String,
    pub mime: String,
    pub validators: Option<Validators>,
    pub extracted: Extracted,
}

/// Result of reading a page.
pub enum Reading {
    Page(Arc<SourcePage>),
    /// The copy that the validators describe is still current.
    NotModified,
}

type Outcome = Result<Arc<SourcePage>, Failure>;

/// Reader of pages. Concurrent reads of one URL share one request, whoever asks: what a site serves does not depend on
/// it.
pub struct PageSource {
    fetcher: Fetcher,
    extractor: Arc<dyn Extractor>,
    /// Timeout of an extraction, including the wait for a free worker.
    extract_timeout: Duration,
    running: SingleFlight<String, Outcome>,
}

impl PageSource {
    pub fn new(fetcher: Fetcher, extractor: Arc<dyn Extractor>, extract_timeout: Duration) -> Arc<Self> {
        Arc::new(Self { fetcher, extractor, extract_timeout, running: SingleFlight::default() })
    }

    /// Reads the page at `url`, conditionally if there are validators.
    pub async fn read(self: &Arc<Self>, url: &str, validators: Option<Validators>) -> Result<Reading, Failure> {
        if validators.is_some() {
            return self.request(url, validators).await;
        }
        let read = self.running.join(&url.to_owned(), || {
            let (source, url) = (Arc::clone(self), url.to_owned());
            tokio::spawn(async move {
                match source.request(&url, None).await? {
                    Reading::Page(page) => Ok(page),
                    // Answers a condition that was not made.
                    Reading::NotModified => Err(UnreadableReason::HttpStatus(304).into()),
                }
            })
        });
        read.await.unwrap_or_else(|| Err(PageError::Panicked.into())).map(Reading::Page)
    }

    async fn request(&self, url: &str, validators: Option<Validators>) -> Result<Reading, Failure> {
        let request = FetchRequest { url: url.to_owned(), validators };
        let page = match self.fetcher.fetch(&request).await {
            Ok(Fetched::Page(page)) => page,
            Ok(Fetched::NotModified) => return Ok(Reading::NotModified),
            Err(error) => return Err(fetch_failed(url, &error)),
        };
        let extracted = self.extract(url, &page).await?;
        if extracted.markdown.trim().is_empty() {
            return Err(failed(url, "the page has no text", UnreadableReason::NoText));
        }
        let (mime, final_url) = (media_type(&page), page.final_url.to_string());
        Ok(Reading::Page(Arc::new(SourcePage { final_url, mime, validators: page.validators, extracted })))
    }

    async fn extract(&self, url: &str, page: &FetchedPage) -> Result<Extracted, Failure> {
        let request = ExtractRequest {
            base_url: Some(page.final_url.to_string()),
            charset: page.charset.clone(),
            ..ExtractRequest::new(page.kind, file_name(page))
        };
        // The page is what its site serves to everyone, whichever organization asked first.
        let compartment = Compartment::new(IndexName::Web.as_str());
        let extracting = self.extractor.extract(&compartment, request, Input::Bytes(page.body.clone()));
        match tokio::time::timeout(self.extract_timeout, extracting).await {
            Ok(Ok(extracted)) => Ok(extracted),
            Ok(Err(error)) => Err(failed(url, &error.to_string(), error.kind.into())),
            Err(_) => Err(failed(url, "extraction timed out", UnreadableReason::Timeout)),
        }
    }
}

/// Returns the media type that the server declares, or that of the detected kind if it declares none, a generic one, or one
/// that the extension of the URL makes more precise.
fn media_type(page: &FetchedPage) -> String {
    let declared = page.content_type.as_deref().map(|header| ContentType::parse(header).media_type);
    match declared {
        Some(declared)
            if !declared.is_empty()
                && declared != "application/octet-stream"
                && FileKind::from_media_type(&declared).is_none_or(|kind| kind == page.kind) =>
        {
            declared
        }
        _ => page.kind.media_type().to_owned(),
    }
}

/// Returns the file name, the fallback title of a document. Empty for web pages.
fn file_name(page: &FetchedPage) -> String {
    if page.kind == FileKind::Html {
        return String::new();
    }
    let last = page.final_url.path_segments().and_then(|mut segments| segments.next_back()).unwrap_or_default();
    percent_encoding::percent_decode_str(last).decode_utf8_lossy().into_owned()
}

fn fetch_failed(url: &str, error: &FetchError) -> Failure {
    let cause = Cause { retry_after: error.retry_after(), ..Cause::from(UnreadableReason::from(error)) };
    Failure { cause: Some(cause), ..failed(url, &error.to_string(), cause.reason) }
}

/// Logs a failure with the host only, since the rest of a URL may contain secrets, and returns it.
fn failed(url: &str, message: &str, reason: UnreadableReason) -> Failure {
    let host = retrieval_core::url::CanonicalUrl::parse(url).map(|url| url.host().to_owned());
    tracing::info!(host = host.unwrap_or_default(), reason = message, "a page could not be read");
    reason.into()
}
