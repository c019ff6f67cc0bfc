//! Reads of documents and their outcomes.

use std::time::Duration;

use api_types::validation::{self, parse_uuid};
use api_types::{
    Content, ContentFormat, ContentRequest, DocumentRequest, DocumentResponse, ErrorCode, SearchResult, Section,
    Selection, Warning, WarningCode,
};

use crate::Refusal;

/// Maximum number of documents in one request.
pub const MAX_URLS: usize = 20;

/// Outcome of a read: the document, or the reason that there is none.
pub type ReadOutcome = Result<DocumentResponse, Failure>;

/// A document that could not be read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Failure {
    pub kind: FailureKind,
    pub message: String,
}

/// Kind of a failure, as services distinguish them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FailureKind {
    /// The URL is malformed or not permitted.
    Invalid,
    NotFound,
    /// The page's host refuses it.
    Forbidden,
    Timeout,
    /// The type of the page is not supported, or it has no text.
    Unsupported,
    Unreachable,
    /// The stored copy is older than the request permits, or there is none.
    TooOld,
    /// This server failed; a retry may succeed.
    Internal,
}

impl FailureKind {
    /// Returns the status that describes the failure of a single page.
    pub fn status(self) -> u16 {
        match self {
            FailureKind::Invalid => 400,
            FailureKind::NotFound => 404,
            FailureKind::Forbidden => 403,
            FailureKind::Timeout => 504,
            FailureKind::Unsupported => 422,
            FailureKind::Unreachable | FailureKind::TooOld => 502,
            FailureKind::Internal => 503,
        }
    }
}

impl Failure {
    /// The failure of a read that the API refused.
    pub fn of(code: ErrorCode, message: &str) -> Self {
        let kind = match code {
            ErrorCode::ValidationError => FailureKind::Invalid,
            ErrorCode::DocumentNotFound => FailureKind::NotFound,
            _ => FailureKind::Internal,
        };
        let message = message.strip_prefix("canonical_url: ").unwrap_or(message);
        Self { kind, message: message.to_owned() }
    }

    fn of_warning(warning: &Warning) -> Self {
        let kind = match (warning.reason(), warning.details.get("status").and_then(|status| status.as_u64())) {
            (_, Some(404 | 410)) => FailureKind::NotFound,
            (_, Some(401 | 403)) | (Some("robots"), _) => FailureKind::Forbidden,
            (Some("timeout"), _) => FailureKind::Timeout,
            (Some("not_stored"), _) => FailureKind::TooOld,
            (Some("too_large" | "unsupported_type" | "no_text" | "needs_ocr"), _) | (None, _) => {
                FailureKind::Unsupported
            }
            _ => FailureKind::Unreachable,
        };
        Self { kind, message: warning.message.clone() }
    }
}

/// Returns the text of a read document.
pub(crate) fn text(outcome: &ReadOutcome) -> Result<&str, Failure> {
    let document = outcome.as_ref().map_err(Clone::clone)?;
    let unavailable = |warning: &&Warning| warning.code == WarningCode::ContentUnavailable;
    if let Some(warning) = document.warnings.iter().find(unavailable) {
        return Err(Failure::of_warning(warning));
    }
    // Without a passage that matches the query there is no content block.
    Ok(document.content.as_ref().map_or("", |Content { text, .. }| text))
}

/// Refuses a document whose content is older than the request permits.
pub(crate) fn check_age(outcome: ReadOutcome, max_age: Option<Duration>) -> ReadOutcome {
    let document = outcome?;
    too_old(&document, max_age).map_or(Ok(document), Err)
}

/// Returns the failure of a document whose content is older than the request permits, which the API reports as a warning. The content
/// of files has no age.
pub(crate) fn too_old(document: &DocumentResponse, max_age: Option<Duration>) -> Option<Failure> {
    let is_stale = document.warnings.iter().any(|warning| warning.code == WarningCode::StaleContent);
    let time = capture_time(document).filter(|_| is_stale && max_age.is_some())?;
    let message = format!("the content was read at {time}, which is older than requested");
    Some(Failure { kind: FailureKind::TooOld, message })
}

/// Returns the time at which the content was read.
pub(crate) fn capture_time(document: &DocumentResponse) -> Option<&str> {
    document.provenance.as_ref().map(|capture| capture.capture_time.as_str())
}

/// A read of the whole document at a URL, or of the one with this id.
pub(crate) fn whole(address: &str, format: ContentFormat, max_chars: Option<i64>) -> DocumentRequest {
    let content = ContentRequest { format, max_chars, ..ContentRequest::default() };
    DocumentRequest { include: Some(vec![Section::Content]), content, ..addressed(address) }
}

/// A read of the passages of a document that answer `query`, or of its first ones.
pub(crate) fn passages(address: &str, query: Option<&str>) -> DocumentRequest {
    let query = query.map(str::trim).filter(|query| !query.is_empty());
    let selection = if query.is_some() { Selection::QueryRelevant } else { Selection::TopPassages };
    DocumentRequest {
        include: Some(vec![Section::Passages]),
        query: query.map(str::to_owned),
        content: ContentRequest { selection, ..ContentRequest::default() },
        ..addressed(address)
    }
}

/// Demands on the age of a read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Freshness {
    /// Age of a stored copy from which the page is read again; `None` for the server's own.
    pub max_age: Option<Duration>,
    pub cache_only: bool,
    /// Milliseconds for reading the page.
    pub timeout_ms: Option<i64>,
}

impl Freshness {
    pub fn apply(self, request: DocumentRequest) -> DocumentRequest {
        DocumentRequest {
            max_age_seconds: self.max_age.map(|age| i64::try_from(age.as_secs()).unwrap_or(i64::MAX)),
            cache_only: self.cache_only,
            timeout_ms: limited_ms(self.timeout_ms),
            ..request
        }
    }
}

/// Limits a time in milliseconds to the longest one of a request. Times that are not positive ask for nothing.
pub(crate) fn limited_ms(time: Option<i64>) -> Option<i64> {
    time.filter(|time| *time > 0).map(|time| time.min(validation::MAX_TIMEOUT_MS))
}

fn addressed(address: &str) -> DocumentRequest {
    let address = address.trim().to_owned();
    match parse_uuid(&address) {
        Some(_) => DocumentRequest { doc_id: Some(address), ..DocumentRequest::default() },
        None => DocumentRequest { canonical_url: Some(address), ..DocumentRequest::default() },
    }
}

/// Returns the texts of the passages of a read.
pub(crate) fn passage_texts(outcome: &ReadOutcome) -> Vec<&str> {
    let passages = outcome.as_ref().ok().and_then(|document| document.passages.as_ref());
    passages.into_iter().flatten().map(|passage| passage.text.trim()).collect()
}

/// Returns the texts of a hit's best passages; its snippet if it has none.
pub(crate) fn chunks(hit: &SearchResult, most: usize) -> Vec<&str> {
    let passages = hit.passages.iter().flatten().map(|passage| passage.text.trim());
    let chunks: Vec<&str> = passages.filter(|text| !text.is_empty()).take(most).collect();
    if chunks.is_empty() { vec![summary(hit)] } else { chunks }
}

/// Returns the snippet of a hit, or its description.
pub(crate) fn summary(hit: &SearchResult) -> &str {
    let snippet = hit.snippet.as_deref().filter(|snippet| !snippet.is_empty());
    snippet.or(hit.description.as_deref()).unwrap_or_default()
}

/// Returns the title of a hit, or its URL.
pub(crate) fn title(hit: &SearchResult) -> &str {
    hit.title.as_deref().unwrap_or(&hit.canonical_url)
}

/// Checks the addresses of a request: 1 to [`MAX_URLS`].
pub(crate) fn check_count(field: &str, addresses: &[String]) -> Result<(), Refusal> {
    match addresses.len() {
        1..=MAX_URLS => Ok(()),
        count => Err(Refusal::new(field, format!("{field} must have 1 to {MAX_URLS} items, not {count}"))),
    }
}

/// Cuts text to `max` characters.
pub(crate) fn cut(text: &str, max: usize) -> &str {
    text.char_indices().nth(max).map_or(text, |(end, _)| &text[..end])
}
