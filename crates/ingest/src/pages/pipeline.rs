//! Pipeline of one page: fetch, extract, store.

use std::sync::Arc;
use std::time::Duration;

use docstore::{Capture, Docstore, Document, NewDocument};
use extract::{ExtractRequest, Extracted};
use extract_worker::{Compartment, Extractor, Input};
use fetcher::{FetchError, FetchRequest, Fetched, FetchedPage, Fetcher, Validators};
use file_types::{ContentType, FileKind};
use model::{Clock, Collection, IndexName, Timestamp};
use tokio::sync::Semaphore;

use super::failure_cache::Cause;
use super::{PageError, PageRequest, SeenCapture};
use crate::prepare::{self, Content, Extent, Source};

/// Labels set by extraction. All others were set by an operator and are kept.
const EXTRACTION_LABELS: [&str; 1] = ["hidden_text"];

pub struct PagePipeline {
    pub store: Docstore,
    pub fetcher: Fetcher,
    pub extractor: Arc<dyn Extractor>,
    pub clock: Arc<dyn Clock>,
    pub extract_timeout: Duration,
    /// One permit per concurrent read.
    pub permits: Semaphore,
}

/// Failure of one read.
pub struct Failure {
    pub error: PageError,
    /// Entry for the failure cache; `None` if the page may be retried at once.
    pub cause: Option<Cause>,
}

impl Failure {
    fn unreadable(cause: Cause) -> Self {
        Self { error: PageError::Unreadable, cause: Some(cause) }
    }
}

impl<E: Into<PageError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { error: error.into(), cause: None }
    }
}

/// Stored state of a page.
struct StoredPage {
    document: Document,
    capture: Option<Capture>,
}

impl PagePipeline {
    /// Captures the page, unless a capture other than `request.seen` is already stored.
    pub async fn run(&self, request: &PageRequest) -> Result<(), Failure> {
        let canonical_url = request.canonical_url.as_str();
        let wait = self.extract_timeout;
        let Ok(Ok(_permit)) = tokio::time::timeout(wait, self.permits.acquire()).await else {
            tracing::warn!(waited = ?wait, "too many concurrent page reads, rejecting one");
            return Err(PageError::Unreadable.into());
        };
        let stored = self.store.find_web_page(canonical_url.to_owned()).await?;
        let stored = stored.map(|(document, capture)| StoredPage { document, capture });
        let capture = stored.as_ref().and_then(|stored| stored.capture.as_ref());
        if capture.is_some_and(|capture| Some(SeenCapture::from(capture)) != request.seen) {
            return Ok(());
        }
        // Taken before the fetch: the content is at least as new.
        let read_at = self.clock.now();
        let fetched = self.fetch(request, capture).await.map_err(|error| fetch_failed(canonical_url, &error))?;
        let page = match (fetched, capture) {
            (Fetched::Page(page), _) => page,
            (Fetched::NotModified, Some(capture)) => {
                self.store.confirm_capture(capture.doc_id, capture.capture_id, read_at).await?;
                return Ok(());
            }
            (Fetched::NotModified, None) => return Err(Failure::unreadable(Cause::default())),
        };
        let extracted = self.extract(canonical_url, &page).await?;
        let has_text = !extracted.markdown.trim().is_empty();
        let had_text = capture.is_some_and(|capture| !capture.content.trim().is_empty());
        if has_text || !had_text {
            let new = prepared(canonical_url, &page, extracted, stored, read_at);
            self.store.save_documents(vec![new], self.clock.now()).await?;
        }
        if has_text {
            return Ok(());
        }
        log_failure(canonical_url, "the page has no text");
        Err(Failure::unreadable(Cause::default()))
    }

    /// Fetches the canonical URL. If it fails with a client error, tries the URL of the last capture, then the given one. The
    /// canonical URL comes first, so that no single caller chooses the content that all callers share.
    async fn fetch(&self, page: &PageRequest, capture: Option<&Capture>) -> Result<Fetched, FetchError> {
        let last = capture.and_then(|capture| capture.fetched_from.as_deref());
        let mut urls = vec![page.canonical_url.as_str()];
        for url in [last, page.given_url.as_deref()].into_iter().flatten().map(without_fragment) {
            if !urls.contains(&url) {
                urls.push(url);
            }
        }
        let mut first = None;
        for url in urls {
            let request = FetchRequest { url: url.to_owned(), validators: capture.and_then(validators) };
            match self.fetcher.fetch(&request).await {
                Err(error @ FetchError::Status { status: 400..=499, .. }) => first = first.or(Some(error)),
                Err(error) => return Err(first.unwrap_or(error)),
                Ok(fetched) => return Ok(fetched),
            }
        }
        Err(first.unwrap_or(FetchError::InvalidUrl { reason: "is missing" }))
    }

    async fn extract(&self, canonical_url: &str, page: &FetchedPage) -> Result<Extracted, Failure> {
        let request = ExtractRequest {
            base_url: Some(page.final_url.to_string()),
            charset: page.charset.clone(),
            ..ExtractRequest::new(page.kind, file_name(page))
        };
        // All organizations share what is read from the web.
        let compartment = Compartment::new(IndexName::Web.as_str());
        let extracting = self.extractor.extract(&compartment, request, Input::Bytes(page.body.clone()));
        let reason = match tokio::time::timeout(self.extract_timeout, extracting).await {
            Ok(Ok(extracted)) => return Ok(extracted),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "extraction timed out".to_owned(),
        };
        log_failure(canonical_url, &reason);
        Err(Failure::unreadable(Cause::default()))
    }
}

impl From<&Capture> for SeenCapture {
    fn from(capture: &Capture) -> Self {
        Self { capture_id: capture.capture_id, captured_at: capture.captured_at }
    }
}

fn without_fragment(url: &str) -> &str {
    url.trim().split('#').next().unwrap_or_default()
}

/// Returns the validators for a conditional request. `None` unless the capture holds the whole page's text, since a page that
/// is not modified keeps it.
fn validators(capture: &Capture) -> Option<Validators> {
    let is_whole = capture.format == Extent::Whole.format() && !capture.content.trim().is_empty();
    let url = capture.fetched_from.clone().filter(|_| is_whole)?;
    let (etag, last_modified) = (capture.etag.clone(), capture.last_modified.clone());
    (etag.is_some() || last_modified.is_some()).then_some(Validators { url, etag, last_modified })
}

fn prepared(
    canonical_url: &str,
    page: &FetchedPage,
    extracted: Extracted,
    stored: Option<StoredPage>,
    read_at: Timestamp,
) -> NewDocument {
    // Metadata that an operator imported is kept.
    let imported = stored.map(|stored| stored.document).filter(|document| document.listed);
    let mut labels = extracted.labels;
    let mut source_url = page.final_url.to_string();
    let mut country = None;
    if let Some(document) = imported {
        let given = document.labels.0.into_iter().filter(|label| !EXTRACTION_LABELS.contains(&label.as_str()));
        labels = given.chain(labels).collect();
        source_url = document.source_url;
        country = document.country;
    }
    let source = Source {
        collection: Collection::Web,
        canonical_url: canonical_url.to_owned(),
        source_url,
        source_uri: None,
        mime: Some(media_type(page)),
        country,
        listed: false,
    };
    let content = Content {
        markdown: extracted.markdown,
        title: extracted.title,
        description: extracted.description,
        language: extracted.language,
        published_at: extracted.published_at.map(Timestamp::from_millis),
        labels,
        page_starts: extracted.page_starts,
        extent: Extent::Whole,
    };
    let mut new = prepare::document(source, content, read_at);
    let validators = page.validators.clone();
    new.capture.fetched_from = Some(page.final_url.to_string());
    (new.capture.etag, new.capture.last_modified) =
        validators.map(|validators| (validators.etag, validators.last_modified)).unwrap_or_default();
    new
}

/// Returns the media type that the server declares, or that of the detected kind if it declares none or a generic one.
fn media_type(page: &FetchedPage) -> String {
    let declared = page.content_type.as_deref().map(|header| ContentType::parse(header).media_type);
    match declared {
        Some(declared) if !declared.is_empty() && declared != "application/octet-stream" => declared,
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

fn fetch_failed(canonical_url: &str, error: &FetchError) -> Failure {
    log_failure(canonical_url, &error.to_string());
    Failure::unreadable(Cause { retry_after: error.retry_after() })
}

/// Logs a failure with the host only: the rest of a URL may contain secrets.
fn log_failure(canonical_url: &str, reason: &str) {
    let host = retrieval_core::url::CanonicalUrl::parse(canonical_url).map(|url| url.host().to_owned());
    tracing::info!(host = host.unwrap_or_default(), reason, "a page could not be read");
}
