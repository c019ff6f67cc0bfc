//! The report: written from notes, with a citation for everything that it states.

mod differences;
mod extractive;
mod layout;
mod written;

use retrieval_core::chars;

use super::assignment::{Assignment, Format};
use super::notes::coverage;
use super::quotes::draft::Draft;
use super::quotes::{self, Quote};
use super::result::{Basis, Citation, Engine, Report, Warning};
use super::state::{MAX_CHECKS, State, Written};
use super::step::CitationCheck;
use super::structured;
use layout::Layout;

/// Writes the report from the notes that are not rejected; after the last comparison, from verified quotes only.
fn draft(state: &State, assignment: &Assignment) -> Draft {
    if assignment.output.format == Format::Structured
        && let Some(schema) = &assignment.output.schema
    {
        return structured::draft(state, assignment, schema);
    }
    let spec = &assignment.output;
    if let Some(Written::Text { text, shown, truncated }) = &state.written {
        let sections = written::sections(state, assignment, text, shown, *truncated);
        let unanswered = extractive::unanswered_section(&unanswered(state), spec.format);
        let mut layout = layout::lay_out(&[sections, unanswered].concat(), spec.max_chars, spec.format);
        layout.truncated |= truncated;
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
