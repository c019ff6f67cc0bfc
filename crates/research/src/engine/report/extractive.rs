//! The report without a model: the best sentences of the notes, by question.

use super::super::assignment::{Assignment, Format, Limits};
use super::super::quotes::excerpts::{self, Excerpt};
use super::super::quotes::{self, Quote};
use super::super::state::{Source, State};
use super::super::text::{dates, display};
use super::differences::{self, Difference};
use super::layout::{self, Block, Layout, Piece, Section};

/// Sentences of the summary.
const SUMMARY: usize = 3;
const MAX_HEADING_CHARS: usize = 200;
const MAX_NAME_CHARS: usize = 60;

/// Lays out the report with as many sentences for each question as fit.
pub(super) fn layout(state: &State, assignment: &Assignment, unanswered: &[String]) -> Layout {
    let format = assignment.output.format;
    let most = Limits::of(assignment.depth).excerpts;
    let candidates = excerpts::by_question(state);
    let mut laid_out = Layout::default();
    for limit in (1..=most).rev() {
        let mut sections = sections(state, &candidates, limit, format);
        sections.extend(unanswered_section(unanswered, format));
        laid_out = layout::lay_out(&sections, assignment.output.max_chars, format);
        if !laid_out.truncated {
            laid_out.truncated = limit < most && candidates.iter().any(|list| list.len() > limit);
            break;
        }
    }
    laid_out
}

/// Answer to one question.
struct Answer {
    question: usize,
    excerpts: Vec<Excerpt>,
    differences: Vec<Difference>,
}

impl Answer {
    /// Returns true if the answer names a side of the disagreement.
    fn names(&self, difference: &Difference) -> bool {
        self.differences
            .iter()
            .flat_map(|known| &known.values)
            .any(|(_, known)| difference.values.iter().any(|(_, quote)| quote == known))
    }
}

fn sections(state: &State, candidates: &[Vec<Excerpt>], limit: usize, format: Format) -> Vec<Section> {
    let mut shown: Vec<Excerpt> = Vec::new();
    let mut answers: Vec<Answer> = Vec::new();
    for (question, candidates) in candidates.iter().enumerate() {
        let mut differences = differences::find(state, question, candidates);
        differences.retain(|difference| !answers.iter().any(|answer| answer.names(difference)));
        let mut chosen = excerpts::choose(state, question, candidates, limit, &mut shown);
        // Every side of a disagreement is shown, by the sentence that stands for it if another source says the same.
        for (_, quote) in differences.iter_mut().flat_map(|difference| &mut difference.values) {
            let Some(side) = candidates.iter().find(|excerpt| excerpt.quote == *quote) else { continue };
            let is_shown = |known: &&Excerpt| known.quote == side.quote || known.gist.says_the_same(&side.gist);
            let known = chosen.iter().chain(&shown).find(is_shown).map(|known| known.quote);
            match known {
                Some(known) => *quote = known,
                None => chosen.push(side.clone()),
            }
        }
        shown.extend(chosen.iter().cloned());
        answers.push(Answer { question, excerpts: chosen, differences });
    }
    // A later question can add sources to a sentence of an earlier one.
    for excerpt in answers.iter_mut().flat_map(|answer| &mut answer.excerpts) {
        if let Some(known) = shown.iter().find(|known| known.quote == excerpt.quote) {
            excerpt.also.clone_from(&known.also);
        }
    }
    answers.retain(|answer| !answer.excerpts.is_empty());
    let summary = summary(&answers);
    let mut sections = Vec::new();
    if !summary.is_empty() {
        let mut pieces = Vec::new();
        for excerpt in &summary {
            if !pieces.is_empty() {
                pieces.push(Piece::Text(" ".to_owned()));
            }
            pieces.extend(statement(state, excerpt, format));
            if summary.len() == 1 {
                pieces.extend(origin(state, excerpt, format));
            }
        }
        sections.push(Section { heading: None, blocks: vec![Block { is_item: false, pieces }] });
    }
    for answer in &answers {
        let is_only = answers.len() == 1;
        let blocks = blocks(state, answer, &summary, is_only, format);
        let text = &state.questions[answer.question].text;
        let heading = (!is_only).then(|| display::name(text, MAX_HEADING_CHARS, format));
        if !blocks.is_empty() {
            sections.push(Section { heading, blocks });
        }
    }
    sections
}

/// Returns the best sentence of each of the first answers that have more than one; of a single answer, its best.
fn summary(answers: &[Answer]) -> Vec<&Excerpt> {
    if let [only] = answers {
        return only.excerpts.first().into_iter().collect();
    }
    let mut best: Vec<(usize, &Excerpt)> =
        answers.iter().filter(|answer| answer.excerpts.len() > 1).map(|a| (a.question, &a.excerpts[0])).collect();
    best.sort_by(|a, b| b.1.score.total_cmp(&a.1.score).then(a.0.cmp(&b.0)));
    best.truncate(SUMMARY);
    best.sort_by_key(|(question, _)| *question);
    best.into_iter().map(|(_, excerpt)| excerpt).collect()
}

fn blocks(state: &State, answer: &Answer, summary: &[&Excerpt], is_only: bool, format: Format) -> Vec<Block> {
    let mut blocks = Vec::new();
    for excerpt in &answer.excerpts {
        let mut pieces = Vec::new();
        if summary.iter().any(|known| known.quote == excerpt.quote) {
            if is_only {
                continue;
            }
            pieces.push(Piece::Text("See above: ".to_owned()));
            pieces.push(Piece::Cite(excerpt.quote));
        } else {
            pieces.extend(statement(state, excerpt, format));
        }
        pieces.extend(origin(state, excerpt, format));
        blocks.push(Block { is_item: true, pieces });
    }
    blocks.extend(answer.differences.iter().map(|difference| disagreement(state, difference, format)));
    blocks
}

fn statement(state: &State, excerpt: &Excerpt, format: Format) -> [Piece; 2] {
    let text = display::line(quotes::text(state, excerpt.quote), format);
    let rest = if quotes::is_cut(state, excerpt.quote) { "…" } else { "" };
    [Piece::Text(format!("{text}{rest} ")), Piece::Cite(excerpt.quote)]
}

/// Returns the name and date of the source, and the number of others that say the same.
fn origin(state: &State, excerpt: &Excerpt, format: Format) -> Option<Piece> {
    let named = described(&state.sources[excerpt.source], format);
    let others = match excerpt.also.len() {
        0 => String::new(),
        1 => "also in 1 other source".to_owned(),
        count => format!("also in {count} other sources"),
    };
    let parts: Vec<String> = [named, others].into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| Piece::Text(format!(" ({})", parts.join("; "))))
}

/// Returns the host of a page or the title of a file, and its date.
fn described(source: &Source, format: Format) -> String {
    let name = if source.host.is_empty() { source.title.as_deref().unwrap_or_default() } else { &source.host };
    let name = display::name(name, MAX_NAME_CHARS, format);
    let date = source.published_at.and_then(dates::of).map(dates::Date::iso);
    [Some(name), date].into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn disagreement(state: &State, difference: &Difference, format: Format) -> Block {
    let label = if format == Format::Markdown { "**Sources differ:** " } else { "Sources differ: " };
    let mut pieces = vec![Piece::Text(label.to_owned())];
    for (at, (value, quote)) in difference.values.iter().enumerate() {
        let separator = if at == 0 { "" } else { "; " };
        let source = described(source_of(state, *quote), format);
        let source = if source.is_empty() { source } else { format!(" ({source})") };
        pieces.push(Piece::Text(format!("{separator}{}{source} ", display::name(value, MAX_NAME_CHARS, format))));
        pieces.push(Piece::Cite(*quote));
    }
    pieces.push(Piece::Text(".".to_owned()));
    Block { is_item: false, pieces }
}

fn source_of(state: &State, quote: Quote) -> &Source {
    &state.sources[state.notes[quote.note].source]
}

/// Returns the section that lists the questions without an answer.
pub(super) fn unanswered_section(questions: &[String], format: Format) -> Vec<Section> {
    let item = |question: &String| Block {
        is_item: true,
        pieces: vec![Piece::Text(display::name(question, MAX_HEADING_CHARS, format))],
    };
    if questions.is_empty() {
        return Vec::new();
    }
    vec![Section { heading: Some("Not answered".to_owned()), blocks: questions.iter().map(item).collect() }]
}
