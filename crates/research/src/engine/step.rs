//! Steps of a run and their outcomes.

use model::{CaptureId, DocId, IndexName, PassageId, Timestamp};
use serde::{Deserialize, Serialize};

use super::prompt::Prompt;
use super::stored;

/// The next thing to do. It contains everything that its execution needs.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Search for a question. `search_queries` are several wordings, `query` selects the passages.
    Search {
        question: usize,
        query: String,
        search_queries: Vec<String>,
    },
    /// Read the passages of a document that answer `query`.
    Read {
        question: usize,
        #[serde(with = "stored::id")]
        doc_id: DocId,
        query: String,
    },
    /// Ask the model.
    Generate(Prompt),
    /// Compare the quotes with the captures; see [`super::verify::compare`].
    Check {
        citations: Vec<CitationCheck>,
        /// True if the time ended before the model had written the report.
        #[serde(default)]
        is_late: bool,
    },
    Finish(Ending),
}

/// Result of a step. All of it is untrusted.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Hits of a search, best first.
    Found(Vec<FoundHit>),
    Document(ReadText),
    /// The document could not be read.
    Unreadable {
        reason: String,
    },
    /// The model's answer. `tokens` of prompt and answer, if it reports them.
    Generated {
        text: String,
        tokens: Option<u64>,
        /// True if the text ends at the limit of tokens.
        #[serde(default)]
        truncated: bool,
    },
    /// The model gave no text. `tokens` as in `Generated`: an answer without text costs tokens, too.
    ModelFailed {
        reason: String,
        #[serde(default)]
        tokens: Option<u64>,
    },
    Checked(Vec<Check>),
    /// The search failed, or the quotes could not be compared.
    SourceFailed {
        reason: String,
    },
}

/// Hit of a search.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct FoundHit {
    #[serde(with = "stored::id")]
    pub doc_id: DocId,
    pub canonical_url: String,
    #[serde(default)]
    pub title: Option<String>,
    #[serde(with = "stored::index")]
    pub index: IndexName,
    #[serde(default, with = "stored::optional_time")]
    pub published_at: Option<Timestamp>,
    /// ISO 639-1 code.
    #[serde(default)]
    pub language: Option<String>,
    /// Capture of the passages.
    #[serde(with = "stored::id")]
    pub capture_id: CaptureId,
    #[serde(with = "stored::time")]
    pub capture_time: Timestamp,
    /// Passages that answer the query, best first.
    #[serde(default)]
    pub passages: Vec<FoundPassage>,
}

/// Text that a document was read as.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ReadText {
    #[serde(with = "stored::id")]
    pub doc_id: DocId,
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default, with = "stored::optional_time")]
    pub published_at: Option<Timestamp>,
    #[serde(default)]
    pub language: Option<String>,
    #[serde(with = "stored::id")]
    pub capture_id: CaptureId,
    #[serde(with = "stored::time")]
    pub capture_time: Timestamp,
    /// Passages that answer the query, in any order.
    #[serde(default)]
    pub passages: Vec<FoundPassage>,
}

/// Verbatim passage of a capture.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct FoundPassage {
    #[serde(default, with = "stored::optional_id")]
    pub passage_id: Option<PassageId>,
    pub text: String,
    /// First character of the passage in the capture, if known.
    #[serde(default)]
    pub char_start: Option<usize>,
    #[serde(default)]
    pub section_path: Vec<String>,
}

/// Quote to compare with its capture.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct CitationCheck {
    /// Number of the citation in the draft.
    pub n: u32,
    #[serde(with = "stored::id")]
    pub doc_id: DocId,
    #[serde(with = "stored::id")]
    pub capture_id: CaptureId,
    #[serde(default, with = "stored::optional_id")]
    pub passage_id: Option<PassageId>,
    pub quote: String,
    /// Presumed position of the quote in the capture, in characters.
    #[serde(default)]
    pub char_start: Option<usize>,
}

/// Result of the comparison of one quote.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Check {
    pub n: u32,
    /// First character of the quote in the capture; `None` if the capture does not contain it.
    pub char_start: Option<usize>,
}

/// End of a run.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Ending {
    pub stop_reason: StopReason,
    /// True if the run counts as failed and has no report.
    pub failed: bool,
    /// Reason of a failure.
    #[serde(default)]
    pub message: Option<String>,
}

/// Reason for the end.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    Answered,
    BudgetReached,
    NoSources,
    Error,
}

impl StopReason {
    /// Name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::BudgetReached => "budget_reached",
            Self::NoSources => "no_sources",
            Self::Error => "error",
        }
    }
}
