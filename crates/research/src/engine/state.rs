//! State of a run: everything that its steps found.

use model::{CaptureId, DocId, IndexName, PassageId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::result::Report;
use super::stored;

/// Comparisons of quotes with captures. After the last, the report consists of verified quotes only.
pub(super) const MAX_CHECKS: u32 = 3;

/// State of a run. Stored as JSON after each step, so fields are only ever added, with a default.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct State {
    pub phase: Phase,
    pub questions: Vec<Question>,
    /// Questions beyond the limit of the depth.
    pub left_out: Vec<String>,
    /// True once the model was asked for questions.
    pub planned: bool,
    /// True once the plan was an event.
    pub plan_told: bool,
    /// Round of searching and reading, from 1.
    pub round: u32,
    /// Questions of this round.
    pub open: Vec<usize>,
    pub asked: Vec<Asked>,
    /// Distinct documents of all searches.
    pub sources: Vec<Source>,
    pub notes: Vec<Note>,
    pub spent: Spent,
    /// True once the model failed; it is not asked again.
    pub model_lost: bool,
    /// Round after which the model judged the notes last.
    pub judged_round: u32,
    /// True once the model was asked to write.
    pub write_asked: bool,
    /// The model's report.
    pub written: Option<Written>,
    /// Quotes that their captures contain.
    pub verified: Vec<VerifiedQuote>,
    /// Comparisons of quotes so far.
    pub checks: u32,
    /// True if the budget ended the research; decided before the first comparison.
    pub budget_reached: bool,
    /// Reason of the last comparison that could not be made.
    pub check_failure: Option<String>,
    /// The verified report.
    pub draft: Option<Report>,
}

/// Phase of a run.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    #[default]
    Planning,
    Searching,
    Reading,
    Judging,
    Writing,
    Verifying,
    Done,
}

impl Phase {
    /// Name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Planning => "planning",
            Self::Searching => "searching",
            Self::Reading => "reading",
            Self::Judging => "judging",
            Self::Writing => "writing",
            Self::Verifying => "verifying",
            Self::Done => "done",
        }
    }
}

/// A question of the plan.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Question {
    pub text: String,
    /// Words of its context that searches need, such as the subject of the question before.
    pub topic: String,
    pub terms: Vec<Term>,
    /// Languages of the documents of the first search that found any, most common first: ISO 639-1 codes. The terms are
    /// words that are no function words in one of them.
    pub languages: Vec<String>,
    /// Passages that were compared with the terms.
    pub passages_seen: u32,
    /// The model's last judgement.
    pub judged_answered: Option<bool>,
}

/// A word of a question.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Term {
    pub word: String,
    /// Passages that contain it.
    pub passages: u32,
}

/// A search that was executed.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Asked {
    pub question: usize,
    pub round: u32,
    pub queries: Vec<String>,
    /// Positions of the hits in [`State::sources`], best first.
    pub found: Vec<usize>,
    /// Hits that no search found before.
    pub new_sources: usize,
    /// Reason, if it failed.
    pub failure: Option<String>,
}

/// A document that a search found.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Source {
    #[serde(with = "stored::id")]
    pub doc_id: DocId,
    pub canonical_url: String,
    /// Host of a web page; empty for a file.
    pub host: String,
    pub title: Option<String>,
    #[serde(with = "stored::index")]
    pub index: IndexName,
    #[serde(with = "stored::optional_time")]
    pub published_at: Option<Timestamp>,
    pub language: Option<String>,
    #[serde(default)]
    pub reads: Vec<Read>,
    /// Source with the same passages.
    #[serde(default)]
    pub duplicate_of: Option<usize>,
}

/// A read of a source.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Read {
    pub question: usize,
    pub round: u32,
    pub readable: bool,
}

/// A kept passage.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Note {
    /// Position in [`State::sources`].
    pub source: usize,
    #[serde(with = "stored::id")]
    pub capture_id: CaptureId,
    #[serde(with = "stored::time")]
    pub capture_time: Timestamp,
    #[serde(with = "stored::optional_id")]
    pub passage_id: Option<PassageId>,
    /// Verbatim text of the capture.
    pub text: String,
    /// Position of the text in the capture, in characters, if known.
    pub char_start: Option<usize>,
    #[serde(default)]
    pub section: String,
    /// Questions whose terms it contains.
    #[serde(default)]
    pub matches: Vec<NoteMatch>,
    #[serde(default)]
    pub fingerprint: Vec<u32>,
    /// Other sources with the same sentences.
    #[serde(default)]
    pub also_in: Vec<usize>,
    /// True if a capture did not contain a quote of it.
    #[serde(default)]
    pub rejected: bool,
}

/// Relation of a note to a question.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct NoteMatch {
    pub question: usize,
    /// Positions in [`Question::terms`], rising.
    pub terms: Vec<u16>,
    /// True if the model judged that the note answers the question.
    #[serde(default)]
    pub judged: bool,
}

/// A quote that its capture contains: bytes of a note.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct VerifiedQuote {
    pub note: usize,
    pub start: usize,
    pub end: usize,
    /// First character in the capture.
    pub char_start: usize,
}

/// Answer of the model to the request for a report.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Written {
    Text {
        text: String,
        /// Notes that the model was shown.
        shown: Vec<usize>,
        /// True if the text ends in the middle.
        #[serde(default)]
        truncated: bool,
    },
    Structured {
        value: Value,
        basis: Vec<WrittenBasis>,
        /// True if the answer ended in the middle.
        #[serde(default)]
        truncated: bool,
    },
}

/// Notes that the model names for a field.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct WrittenBasis {
    pub field: String,
    pub notes: Vec<usize>,
}

/// Consumption so far.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Spent {
    pub searches: u32,
    pub documents: u32,
    pub tokens: u64,
}

/// Progress of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    pub phase: Phase,
    pub searches: u32,
    pub documents_read: u32,
    pub passages_kept: usize,
    pub plan: Vec<PlanStep>,
}

/// A question in the progress of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanStep {
    /// From 1.
    pub step: usize,
    pub question: String,
    pub status: PlanStatus,
}

/// Status of a question.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PlanStatus {
    Pending,
    Running,
    Done,
    Unanswered,
}

impl PlanStatus {
    /// Name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Done => "done",
            Self::Unanswered => "unanswered",
        }
    }
}
