//! Reads of one document: metadata, content, and passages to cite.

mod content;
mod find;
mod freshness;
pub(crate) mod passages;

use docstore::{Document, Grant, StoredCapture};
use ingest::PageError;
use ingest::clock::to_date_time;
use ingest::pages::{PageRequest, SeenCapture};
use model::{CaptureFormat, CaptureId, Collection, DocId, PassageId};
use time::OffsetDateTime;

use crate::error::Result;
use crate::{App, Error, Viewer};
use find::Found;
pub use freshness::CaptureLifetimes;

/// Document to read. `doc_id` takes precedence if a caller sends both.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Target {
    DocId(DocId),
    Url(String),
}

/// Part of the content to return.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Selection {
    None,
    QueryRelevant,
    TopPassages,
    PassageIds,
    FullDocument,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ContentFormat {
    Text,
    Markdown,
}

/// Sections of the response.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Include {
    pub metadata: bool,
    pub passages: bool,
    pub capture_history: bool,
    pub content: bool,
}

impl Include {
    pub const ALL: Include = Include { metadata: true, passages: true, capture_history: true, content: true };

    /// Returns true if only the `doc` block is requested, for which no page is fetched.
    pub fn metadata_only(self) -> bool {
        !(self.passages || self.capture_history || self.content)
    }
}

/// Range of the selected text, in characters.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Range {
    pub start_char: u64,
    /// Overrides `ReadRequest::max_chars`.
    pub max_chars: Option<u64>,
    /// Capture that the caller's offsets refer to.
    pub capture_id: Option<CaptureId>,
}

/// A validated read.
#[derive(Clone, Debug)]
pub struct ReadRequest {
    pub target: Target,
    pub include: Include,
    pub query: Option<String>,
    pub selection: Selection,
    pub format: ContentFormat,
    pub max_chars: Option<u64>,
    pub include_offsets: bool,
    pub passage_ids: Vec<String>,
    pub range: Option<Range>,
}

#[derive(Clone, Debug)]
pub struct ReadOutcome {
    pub document: DocumentView,
    pub content: Option<ContentView>,
    pub passages: Option<Vec<PassageView>>,
    /// `None` if the section was not requested or no capture exists.
    pub capture_history: Option<Vec<CaptureView>>,
    /// Latest capture, independent of the included sections.
    pub capture: Option<CaptureView>,
    pub warnings: Vec<ReadWarning>,
}

#[derive(Clone, Debug)]
pub struct DocumentView {
    pub doc_id: DocId,
    pub canonical_url: String,
    pub source_url: String,
    pub title: Option<String>,
    pub meta_description: Option<String>,
    pub headings: Vec<String>,
    pub content_digest: Option<String>,
    pub latest_capture_id: Option<CaptureId>,
    pub published_at: Option<OffsetDateTime>,
    pub first_seen_at: OffsetDateTime,
    pub last_seen_at: OffsetDateTime,
}

#[derive(Clone, Debug)]
pub struct ContentView {
    pub selection: Selection,
    pub format: ContentFormat,
    pub text: String,
    pub truncated: bool,
    pub char_count: u64,
    /// 0 unless a range was requested.
    pub start_char: u64,
}

#[derive(Clone, Debug)]
pub struct PassageView {
    pub passage_id: PassageId,
    pub doc_id: DocId,
    pub ordinal: u32,
    pub text: String,
    /// `[start, end)` in characters of the full markdown content; only if offsets were requested.
    pub chars: Option<(u64, u64)>,
    pub section_heading: Option<String>,
    pub section_path: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct CaptureView {
    pub capture_id: CaptureId,
    pub capture_time: OffsetDateTime,
    pub content_digest: String,
    pub format: ContentFormat,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ReadWarning {
    ContentUnavailable,
    /// `field` is `content.max_chars` or `content.range.max_chars`.
    ContentTruncated {
        field: &'static str,
        max_chars: u64,
    },
    StaleRange {
        requested: CaptureId,
        latest: CaptureId,
    },
    StalePassageIds {
        passage_ids: Vec<String>,
    },
}

impl App {
    /// Reads a document that the viewer may see. Fetches a web page if its stored capture does not answer the request.
    /// Reading by URL grants the document to the organization.
    pub async fn read_document(&self, viewer: &Viewer, request: ReadRequest) -> Result<ReadOutcome> {
        let mut found = self.find_document(viewer, &request.target).await?;
        let mut stored = self.stored_capture(viewer, &found).await?;
        let mut is_whole = true;
        if let Some(page) = self.page_to_fetch(&found, stored.as_ref(), &request) {
            match self.pages.read(page).await {
                Ok(()) => {}
                // The last good capture stays, but a snippet cannot stand in for the full document.
                Err(PageError::Unreadable) => {
                    is_whole = !stored.as_ref().is_some_and(|stored| freshness::is_snippet(&stored.capture));
                }
                Err(error @ (PageError::Store(_) | PageError::Panicked)) => return Err(Error::internal(error)),
            }
            found = self.find_document(viewer, &request.target).await?;
            stored = self.stored_capture(viewer, &found).await?;
        }
        let document = match found {
            Found::Stored(document) => document,
            Found::Unknown { document, .. } => return Ok(without_content(*document, &request)),
        };
        if matches!(request.target, Target::Url(_)) {
            self.grant(viewer, document.doc_id).await?;
        }
        match stored {
            Some(stored) => Ok(outcome(&document, stored, is_whole, &request)),
            None => Ok(without_content(view(&document, None), &request)),
        }
    }

    async fn stored_capture(&self, viewer: &Viewer, found: &Found) -> Result<Option<StoredCapture>> {
        match found {
            Found::Stored(document) => {
                Ok(self.store.find_latest_capture(viewer.organization_id, document.doc_id).await?)
            }
            Found::Unknown { .. } => Ok(None),
        }
    }

    /// Returns the page that must be fetched before the request can be answered, if any.
    fn page_to_fetch(
        &self,
        found: &Found,
        stored: Option<&StoredCapture>,
        request: &ReadRequest,
    ) -> Option<PageRequest> {
        let given_url = match &request.target {
            Target::Url(url) => Some(url.clone()),
            Target::DocId(_) => None,
        };
        match found {
            Found::Unknown { canonical_url, .. } => (!request.include.metadata_only()).then(|| PageRequest {
                canonical_url: canonical_url.clone(),
                given_url,
                seen: None,
            }),
            Found::Stored(document) => {
                let capture = stored.map(|stored| &stored.capture);
                let lifetimes = self.options.capture_lifetimes;
                freshness::needs_fetch(document, capture, request, lifetimes, self.clock.now()).then(|| PageRequest {
                    canonical_url: document.canonical_url.clone(),
                    given_url,
                    seen: capture.map(SeenCapture::from),
                })
            }
        }
    }

    async fn grant(&self, viewer: &Viewer, doc_id: DocId) -> Result<()> {
        let organization_id = viewer.organization_id;
        if self.store.is_granted(organization_id, doc_id).await? {
            return Ok(());
        }
        let grant = Grant { organization_id, doc_id, granted_at: self.clock.now() };
        Ok(self.store.grant_document(grant).await?)
    }
}

/// Builds the outcome from a stored capture. `is_whole` is false if a full document was requested and only a snippet is
/// available.
fn outcome(document: &Document, stored: StoredCapture, is_whole: bool, request: &ReadRequest) -> ReadOutcome {
    let mut warnings = Vec::new();
    let capture = capture_view(&stored);
    let has_text = document.collection != Collection::Web || !stored.capture.content.trim().is_empty();
    let is_available = has_text && (is_whole || request.selection != Selection::FullDocument);
    if !is_available && !request.include.metadata_only() {
        warnings.push(ReadWarning::ContentUnavailable);
    }
    let wants_content = is_available && request.include.content && request.selection != Selection::None;
    let chosen = passages::choose(&stored, document.language.as_deref(), request, &mut warnings);
    let content = wants_content.then(|| content::render(&stored, &chosen, request, capture.capture_id, &mut warnings));
    let passages = request.include.passages.then(|| {
        passages::views(&stored, &chosen, request.include_offsets && capture.format == ContentFormat::Markdown)
    });
    ReadOutcome {
        document: view(document, Some(&stored)),
        content,
        passages,
        capture_history: request.include.capture_history.then(|| vec![capture.clone()]),
        capture: Some(capture),
        warnings,
    }
}

/// Returns the `doc` block alone, with a warning unless only metadata was requested.
fn without_content(document: DocumentView, request: &ReadRequest) -> ReadOutcome {
    let warnings = if request.include.metadata_only() { Vec::new() } else { vec![ReadWarning::ContentUnavailable] };
    ReadOutcome { document, content: None, passages: None, capture_history: None, capture: None, warnings }
}

fn view(document: &Document, stored: Option<&StoredCapture>) -> DocumentView {
    DocumentView {
        doc_id: document.doc_id,
        canonical_url: document.canonical_url.clone(),
        source_url: document.source_url.clone(),
        title: document.title.clone(),
        meta_description: document.description.clone(),
        headings: stored.map(|stored| stored.capture.headings.0.clone()).unwrap_or_default(),
        content_digest: stored.map(|stored| stored.capture.content_digest.clone()),
        latest_capture_id: stored.map(|stored| stored.capture.capture_id),
        published_at: document.published_at.map(to_date_time),
        first_seen_at: to_date_time(document.first_seen_at),
        last_seen_at: to_date_time(document.last_seen_at),
    }
}

fn capture_view(stored: &StoredCapture) -> CaptureView {
    let capture = &stored.capture;
    CaptureView {
        capture_id: capture.capture_id,
        capture_time: to_date_time(capture.captured_at),
        content_digest: capture.content_digest.clone(),
        format: match capture.format {
            CaptureFormat::Text => ContentFormat::Text,
            CaptureFormat::Markdown => ContentFormat::Markdown,
        },
    }
}
