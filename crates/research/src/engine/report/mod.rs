//! The report: written from notes, with a citation for everything that it states.

mod differences;
mod excerpts;
mod extractive;
mod layout;
mod marks;
pub(super) mod quotes;
mod written;

use model::{CaptureId, DocId, IndexName, PassageId, Timestamp};
use retrieval_core::chars;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::assignment::{Assignment, Format};
use super::decide::MAX_CHECKS;
use super::notes::coverage;
use super::state::{State, Written};
use super::step::CitationCheck;
use super::{stored, structured};
use layout::Layout;
use quotes::Quote;

pub(super) use excerpts::candidates;
pub(super) use written::without_unknown_addresses;

/// Verified report of a run.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Report {
    pub format: Format,
    /// Empty for a structured report.
    pub text: String,
    /// Valid for the schema; `None` if the notes do not fill it.
    #[serde(default)]
    pub structured: Option<Value>,
    /// True if something was left out to keep `max_chars`.
    pub truncated: bool,
    pub engine: Engine,
    pub citations: Vec<Citation>,
    pub basis: Vec<Basis>,
    /// Questions without an answer in the notes.
    pub unanswered: Vec<String>,
    /// Documents that the searches found.
    pub sources_considered: usize,
    /// Places of the schema that could not be filled.
    pub problems: Vec<Problem>,
    pub warnings: Vec<Warning>,
}

/// Writer of a report.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// Rules: sentences of the notes.
    Extractive,
    Model,
}

impl Engine {
    /// Name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Extractive => "extractive",
            Self::Model => "model",
        }
    }
}

/// Quote of a capture that a report cites. All offsets are characters (Unicode scalar values).
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Citation {
    /// Number of the mark `[n]`, from 1, in the order of the report.
    pub n: u32,
    #[serde(with = "stored::id")]
    pub doc_id: DocId,
    #[serde(with = "stored::optional_id")]
    pub passage_id: Option<PassageId>,
    #[serde(with = "stored::id")]
    pub capture_id: CaptureId,
    #[serde(with = "stored::time")]
    pub capture_time: Timestamp,
    pub canonical_url: String,
    pub title: Option<String>,
    #[serde(with = "stored::index")]
    pub index: IndexName,
    #[serde(with = "stored::optional_time")]
    pub published_at: Option<Timestamp>,
    /// Exact text of the capture from `char_start` to `char_end`.
    pub quote: String,
    pub char_start: usize,
    pub char_end: usize,
    /// First mark `[n]` in the text; `None` in a structured report.
    pub output_start: Option<usize>,
    pub output_end: Option<usize>,
    /// True: only quotes that their capture contains are cited.
    pub verified: bool,
}

/// Citations that a field of a structured report is based on.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Basis {
    /// JSON Pointer.
    pub field: String,
    pub citations: Vec<u32>,
    pub confidence: Confidence,
}

/// Strength of a basis.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// One source that says little about the field.
    Low,
    /// One source.
    Medium,
    /// Several independent sources.
    High,
}

impl Confidence {
    /// Name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Place of a schema that could not be filled.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Problem {
    /// JSON Pointer into the result.
    pub field: String,
    pub message: String,
}

/// Condition that the caller should know of. `budget_reached` follows from the ending.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Warning {
    /// No model wrote the report.
    SynthesisUnavailable,
}

impl Warning {
    /// Code on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SynthesisUnavailable => "synthesis_unavailable",
        }
    }
}

/// A report before its quotes are verified.
pub(super) struct Draft {
    pub text: String,
    pub structured: Option<Value>,
    pub truncated: bool,
    pub engine: Engine,
    /// In the order of their numbers, with the places of the first marks.
    pub quotes: Vec<(Quote, Option<std::ops::Range<usize>>)>,
    /// Fields with positions in `quotes`.
    pub basis: Vec<(String, Vec<usize>, Confidence)>,
    pub problems: Vec<Problem>,
}

/// Writes the report from the notes that are not rejected; after the last comparison, from verified quotes only.
fn draft(state: &State, assignment: &Assignment) -> Draft {
    if assignment.output.format == Format::Structured
        && let Some(schema) = &assignment.output.schema
    {
        return structured::draft(state, assignment, schema);
    }
    let spec = &assignment.output;
    if let Some(Written::Text { text, shown }) = &state.written {
        let sections = written::sections(state, text, shown, spec.format);
        let unanswered = extractive::unanswered_section(&unanswered(state), spec.format);
        let layout = layout::lay_out(&[sections, unanswered].concat(), spec.max_chars, spec.format);
        if !layout.quotes.is_empty() {
            return from_layout(layout, Engine::Model);
        }
    }
    from_layout(extractive::layout(state, assignment, &unanswered(state)), Engine::Extractive)
}

fn from_layout(layout: Layout, engine: Engine) -> Draft {
    Draft {
        text: layout.text,
        structured: None,
        truncated: layout.truncated,
        engine,
        quotes: layout.quotes.into_iter().map(|(quote, marks)| (quote, Some(marks))).collect(),
        basis: Vec::new(),
        problems: Vec::new(),
    }
}

/// Returns the quotes of the draft that were not compared with their captures yet.
pub(super) fn pending_quotes(state: &State, assignment: &Assignment) -> Vec<Quote> {
    if state.checks >= MAX_CHECKS {
        return Vec::new();
    }
    let quotes = draft(state, assignment).quotes.into_iter().map(|(quote, _)| quote);
    quotes.filter(|quote| quotes::verified_at(state, *quote).is_none()).collect()
}

/// Returns the comparisons that the draft needs.
pub(super) fn pending(state: &State, assignment: &Assignment) -> Vec<CitationCheck> {
    let check = |(n, quote): (u32, Quote)| {
        let note = &state.notes[quote.note];
        CitationCheck {
            n,
            doc_id: state.sources[note.source].doc_id,
            capture_id: note.capture_id,
            passage_id: note.passage_id,
            quote: note.text[quote.start..quote.end].to_owned(),
            char_start: note.char_start.map(|start| start.saturating_add(chars::count(&note.text[..quote.start]))),
        }
    };
    (1..).zip(pending_quotes(state, assignment)).map(check).collect()
}

/// Returns the report with its verified citations.
pub(super) fn compose(state: &State, assignment: &Assignment) -> Report {
    let draft = draft(state, assignment);
    let mut citations = Vec::new();
    for (n, (quote, marks)) in (1..).zip(&draft.quotes) {
        let note = &state.notes[quote.note];
        let source = &state.sources[note.source];
        let text = note.text[quote.start..quote.end].to_owned();
        // The draft consists of verified quotes when this is called.
        let Some(char_start) = quotes::verified_at(state, *quote) else { continue };
        citations.push(Citation {
            n,
            doc_id: source.doc_id,
            passage_id: note.passage_id,
            capture_id: note.capture_id,
            capture_time: note.capture_time,
            canonical_url: source.canonical_url.clone(),
            title: source.title.clone(),
            index: source.index,
            published_at: source.published_at,
            char_start,
            char_end: char_start.saturating_add(chars::count(&text)),
            quote: text,
            output_start: marks.as_ref().map(|marks| marks.start),
            output_end: marks.as_ref().map(|marks| marks.end),
            verified: true,
        });
    }
    let number = |positions: Vec<usize>| positions.iter().filter_map(|at| u32::try_from(at + 1).ok()).collect();
    let basis = draft.basis.into_iter();
    Report {
        format: assignment.output.format,
        text: draft.text,
        structured: draft.structured,
        truncated: draft.truncated,
        engine: draft.engine,
        citations,
        basis: basis
            .map(|(field, positions, confidence)| Basis { field, citations: number(positions), confidence })
            .collect(),
        unanswered: unanswered(state),
        sources_considered: state.sources.len(),
        problems: draft.problems,
        warnings: if draft.engine == Engine::Model { Vec::new() } else { vec![Warning::SynthesisUnavailable] },
    }
}

/// Returns the questions without an answer, those beyond the limit included.
fn unanswered(state: &State) -> Vec<String> {
    let open = state.questions.iter().enumerate().filter(|(at, _)| !coverage::is_answered(state, *at));
    open.map(|(_, question)| question.text.clone()).chain(state.left_out.iter().cloned()).collect()
}

/// Returns the paragraphs of a text, each with the blank line after it.
pub(super) fn deltas(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split_inclusive("\n\n").map(str::to_owned)
}
