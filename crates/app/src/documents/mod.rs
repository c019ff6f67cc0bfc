//! Reads of one document: metadata, content, and passages to cite.

mod captured_text;
mod content;
mod find;
mod freshness;
mod outcome;
mod passages;
mod reading;
mod rendered;
mod returned;
mod selection;
mod unread;

use std::time::Duration;

use docstore::{CaptureHead, Document, StoredCapture, VisibleDocument};
use ingest::PageError;
use ingest::pages::{PageRequest, SeenCapture};
use model::{CaptureId, DocId, PassageId};
use time::OffsetDateTime;

use crate::error::Result;
use crate::{App, Deadline, Error, UseCase, Viewer};
pub use freshness::CaptureLifetimes;
pub use ingest::pages::UnreadableReason;
use outcome::{outcome, with_latest};
pub use unread::Unread;

/// Length of a text in bytes on which work takes less than a millisecond.
const INLINE_BYTES: usize = 16 << 10;

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
    /// Maximum number of passages in the answer.
    pub max_passages: Option<usize>,
    /// Selects passages from the whole page: text of a search result is not enough. No effect with `cache_only`.
    pub whole_page: bool,
    /// Maximum age of a stored capture, instead of its lifetime. Zero also tries a page again that could not be read a moment
    /// ago, unless its host asked for more time.
    pub max_age: Option<Duration>,
    /// Fetches nothing.
    pub cache_only: bool,
    /// Capture to read instead of the latest one. Nothing is fetched.
    pub capture_id: Option<CaptureId>,
    /// Time after which stored content must do.
    pub deadline: Deadline,
}

impl ReadRequest {
    /// Returns true if the text of a search result does not answer the request.
    fn needs_whole_page(&self) -> bool {
        self.selection == Selection::FullDocument || (self.whole_page && !self.cache_only)
    }

    /// Returns true if the answer has a content block, if there is content.
    fn wants_content(&self) -> bool {
        self.include.content && self.selection != Selection::None
    }

    /// Returns true if the answer contains text of the document: content or passages.
    fn wants_text(&self) -> bool {
        self.wants_content() || self.include.passages
    }
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
    /// Name of the file; `None` for a web page.
    pub name: Option<String>,
    pub source_url: String,
    pub title: Option<String>,
    pub meta_description: Option<String>,
    /// ISO 639-1 code.
    pub language: Option<String>,
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
    /// `reason` is `None` if the document is no web page.
    ContentUnavailable {
        reason: Option<Unread>,
    },
    /// The capture is too old, and the page was not read again.
    StaleContent {
        capture_time: OffsetDateTime,
        reason: Unread,
    },
    /// No passage matches the query.
    NoMatch,
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
        /// The beginnings of the unknown ids.
        passage_ids: Vec<String>,
    },
}

impl App {
    /// Reads a document that the viewer may see. Fetches a web page if its stored capture does not answer the request; only
    /// the viewer's organization sees what was fetched. Reading by URL grants the document to the organization.
    pub fn read_document<'a>(&'a self, viewer: &'a Viewer, request: ReadRequest) -> UseCase<'a, ReadOutcome> {
        Box::pin(self.read(viewer, request))
    }

    async fn read(&self, viewer: &Viewer, request: ReadRequest) -> Result<ReadOutcome> {
        if let Some(capture_id) = request.capture_id {
            let read = self.load_capture(viewer, &request.target, capture_id).await?;
            return self.answer(viewer, read.visible.document, Some(read.stored), read.latest, None, request).await;
        }
        let (mut visible, mut stored) = self.load_document(viewer, &request.target).await?;
        let mut failure = None;
        if !self.must_fetch(&visible, stored.as_ref(), &request) {
            return self.answer(viewer, visible.document, stored, None, failure, request).await;
        }
        if request.cache_only {
            failure = Some(Unread::NotStored);
        } else {
            let reading = self.pages.read(page_request(viewer, &visible, stored.as_ref(), &request));
            match request.deadline.within(reading).await {
                Some(Ok(())) => {}
                Some(Err(PageError::Unreadable(reason))) => failure = Some(reason.into()),
                Some(Err(PageError::Full)) => failure = Some(Unread::DiskFull),
                Some(Err(error @ PageError::Overloaded { retry_after })) => {
                    return Err(Error::Overloaded { message: format!("the server is busy: {error}"), retry_after });
                }
                Some(Err(error @ (PageError::Store(_) | PageError::Panicked))) => return Err(Error::internal(error)),
                None => failure = Some(Unread::TIMEOUT),
            }
            (visible, stored) = self.load_document(viewer, &request.target).await?;
            // Another read or an import may have succeeded meanwhile.
            failure = failure.filter(|_| self.must_fetch(&visible, stored.as_ref(), &request));
        }
        self.answer(viewer, visible.document, stored, None, failure, request).await
    }

    /// Reads the text that the request needs, and builds the outcome. A long text is computed on, off the runtime's
    /// threads. `latest` is the latest capture if another one is read.
    async fn answer(
        &self,
        viewer: &Viewer,
        document: Document,
        stored: Option<StoredCapture>,
        latest: Option<CaptureHead>,
        failure: Option<Unread>,
        request: ReadRequest,
    ) -> Result<ReadOutcome> {
        let Some(stored) = stored else { return Ok(outcome(&document, None, false, failure, &request)) };
        let has_text = !stored.capture.content.trim().is_empty();
        let (reading, memory) = self.read_text(viewer, &document, stored, &request).await?;
        let bytes = reading.excerpt.content().len();
        if bytes <= INLINE_BYTES {
            let outcome = outcome(&document, Some(&reading), has_text, failure, &request);
            return Ok(with_latest(outcome, latest));
        }
        let computing = self.contents.compute(viewer.organization_id, bytes, move |_| {
            let outcome = with_latest(outcome(&document, Some(&reading), has_text, failure, &request), latest);
            drop((reading, memory));
            outcome
        });
        computing.await
    }

    /// Returns true if the page must be fetched before the request can be answered.
    fn must_fetch(&self, visible: &VisibleDocument, stored: Option<&StoredCapture>, request: &ReadRequest) -> bool {
        let capture = stored.map(|stored| &stored.capture);
        freshness::needs_fetch(visible, capture, request, self.options.capture_lifetimes, self.clock.now())
    }
}

fn page_request(
    viewer: &Viewer,
    visible: &VisibleDocument,
    stored: Option<&StoredCapture>,
    request: &ReadRequest,
) -> PageRequest {
    PageRequest {
        organization_id: viewer.organization_id,
        doc_id: visible.document.doc_id,
        canonical_url: visible.document.canonical_url.clone(),
        given_url: match &request.target {
            Target::Url(url) => Some(url.clone()),
            Target::DocId(_) => None,
        },
        seen: stored.map(|stored| SeenCapture::from(&stored.capture)),
        retries: request.max_age.is_some_and(|age| age.is_zero()),
    }
}
