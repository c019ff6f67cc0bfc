use time::OffsetDateTime;
use uuid::Uuid;

/// Which document: `doc_id` wins when a caller sends both.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Target {
    DocId(Uuid),
    Url(String),
}

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

/// Which sections the answer carries.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Include {
    pub metadata: bool,
    pub passages: bool,
    pub capture_history: bool,
    pub content: bool,
}

impl Include {
    pub const ALL: Include = Include { metadata: true, passages: true, capture_history: true, content: true };

    /// Only the `doc` block is asked for: nothing is fetched.
    pub fn metadata_only(self) -> bool {
        !(self.passages || self.capture_history || self.content)
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Range {
    pub start_char: u64,
    /// Overrides `ReadRequest::max_chars`.
    pub max_chars: Option<u64>,
    pub capture_id: Option<Uuid>,
}

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
    /// `None` when the section was not asked for or no capture exists.
    pub capture_history: Option<Vec<CaptureView>>,
    /// The latest capture, whatever was included.
    pub capture: Option<CaptureView>,
    pub warnings: Vec<ReadWarning>,
}

#[derive(Clone, Debug)]
pub struct DocumentView {
    pub doc_id: Uuid,
    pub canonical_url: String,
    pub source_url: String,
    pub title: Option<String>,
    pub meta_description: Option<String>,
    pub headings: Vec<String>,
    pub content_digest: Option<String>,
    pub latest_capture_id: Option<Uuid>,
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
    /// 0 unless a range was read.
    pub start_char: u64,
}

#[derive(Clone, Debug)]
pub struct PassageView {
    pub passage_id: Uuid,
    pub doc_id: Uuid,
    pub ordinal: u32,
    pub text: String,
    /// `[start, end)` in characters of the full markdown content; only when offsets were asked for.
    pub chars: Option<(u64, u64)>,
    pub section_heading: Option<String>,
    pub section_path: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct CaptureView {
    pub capture_id: Uuid,
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
        requested: Uuid,
        latest: Uuid,
    },
    StalePassageIds {
        passage_ids: Vec<String>,
    },
}
