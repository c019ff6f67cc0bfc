//! A research assignment: the question, its limits and the form of the report.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Maximum length of a question in characters.
pub const MAX_QUERY_CHARS: usize = 8_000;

/// Default length of a report in characters.
pub const DEFAULT_REPORT_CHARS: usize = 12_000;

/// Default limit of one answer of the model in tokens.
pub const DEFAULT_ANSWER_TOKENS: u32 = 4_096;

/// Everything that determines a run, apart from the outcomes of its steps. It does not change during the run.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Assignment {
    /// 1 to [`MAX_QUERY_CHARS`] characters.
    pub query: String,
    #[serde(default)]
    pub depth: Depth,
    /// Wishes for the report. Only a model can follow them.
    #[serde(default)]
    pub instructions: Option<String>,
    #[serde(default)]
    pub output: OutputSpec,
    pub budget: Budget,
    #[serde(default)]
    pub previous: Option<PreviousReport>,
    /// True if [`super::Step::Generate`] can be executed.
    #[serde(default)]
    pub has_model: bool,
    /// Maximum number of tokens that the model generates for one step, its reasoning included.
    #[serde(default = "default_answer_tokens")]
    pub max_answer_tokens: u32,
}

/// Limit of runs that were created before it was stored with them.
fn default_answer_tokens() -> u32 {
    DEFAULT_ANSWER_TOKENS
}

/// Thoroughness of a run: a preset of the budget and of the limits within it.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    Quick,
    #[default]
    Standard,
    Deep,
}

/// Limits of a run. No step begins that could exceed one of them.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Budget {
    pub max_searches: u32,
    /// Documents read; hits of a search are free.
    pub max_documents: u32,
    pub max_seconds: u32,
    /// Tokens of the model, of prompts and answers together.
    pub max_tokens: u32,
    #[serde(default)]
    pub on_exceed: OnExceed,
}

impl Budget {
    /// Returns the preset of a depth.
    pub const fn of(depth: Depth) -> Self {
        let (max_searches, max_documents, max_seconds, max_tokens) = match depth {
            Depth::Quick => (6, 8, 30, 20_000),
            Depth::Standard => (24, 40, 300, 150_000),
            Depth::Deep => (60, 120, 900, 500_000),
        };
        Self { max_searches, max_documents, max_seconds, max_tokens, on_exceed: OnExceed::ReturnPartial }
    }

    /// Returns the time limit.
    pub fn duration(&self) -> Duration {
        Duration::from_secs(u64::from(self.max_seconds))
    }
}

/// Ending of a run that is out of budget.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OnExceed {
    /// The report covers the material found so far.
    #[default]
    ReturnPartial,
    /// The run fails without a report.
    Fail,
}

/// Form of the report.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct OutputSpec {
    #[serde(default)]
    pub format: Format,
    /// JSON Schema, with [`Format::Structured`]; see [`super::structured::validate_schema`].
    #[serde(default)]
    pub schema: Option<Value>,
    pub max_chars: usize,
}

impl Default for OutputSpec {
    fn default() -> Self {
        Self { format: Format::Markdown, schema: None, max_chars: DEFAULT_REPORT_CHARS }
    }
}

/// Format of the report.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    #[default]
    Markdown,
    Text,
    Structured,
}

/// An earlier run that this one continues.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct PreviousReport {
    pub query: String,
    /// Text of the report; JSON of a structured one.
    pub text: String,
}

/// Limits within the budget, by depth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub questions: usize,
    /// Rounds of searching and reading.
    pub rounds: u32,
    /// Documents read for each question in a round.
    pub reads: usize,
    /// Notes kept for each question.
    pub notes: usize,
    /// Excerpts shown for each question.
    pub excerpts: usize,
}

impl Limits {
    pub const fn of(depth: Depth) -> Self {
        let (questions, rounds, reads, notes, excerpts) = match depth {
            Depth::Quick => (3, 2, 1, 8, 4),
            Depth::Standard => (6, 3, 4, 16, 6),
            Depth::Deep => (10, 5, 6, 24, 10),
        };
        Self { questions, rounds, reads, notes, excerpts }
    }
}
