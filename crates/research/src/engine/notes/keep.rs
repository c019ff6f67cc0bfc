//! Selection of the passages that are kept.

use retrieval_core::analysis::Analyzers;
use retrieval_core::chars;

use model::{CaptureId, Timestamp};

use super::super::assignment::Limits;
use super::super::event::Event;
use super::super::state::{Note, NoteMatch, State};
use super::super::step::FoundPassage;
use super::super::text::words::QuestionMatcher;
use super::super::text::{numbers, similar};

/// Longest note in characters. Passages are shorter, except for blocks of code and data.
const MAX_NOTE_CHARS: usize = 2_000;
/// Passages of one document that are looked at.
const MAX_PASSAGES: usize = 12;
/// Longest heading kept with a note.
const MAX_SECTION_CHARS: usize = 200;
/// Share of a question's words that makes a passage worth keeping.
const WORTH_KEEPING: f64 = 0.3;
/// Passages of a document that are kept for any word of the question, because the search ranked them first.
const FIRST_PASSAGES: usize = 2;

/// Passages of one document, as a step found them.
pub(crate) struct Passages<'a> {
    pub question: usize,
    pub source: usize,
    pub capture_id: CaptureId,
    pub capture_time: Timestamp,
    pub passages: &'a [FoundPassage],
    /// True if the first passage is kept even without words of the question, because a model can judge it.
    pub trusted_rank: bool,
}

/// Keeps the passages that answer a question, once each. Returns the events and the sources with the same passages.
pub(crate) fn keep(state: &mut State, limits: Limits, found: &Passages<'_>) -> (Vec<Event>, Option<usize>) {
    let language = state.sources.get(found.source).and_then(|source| source.language.clone());
    let matchers: Vec<QuestionMatcher> =
        state.questions.iter().map(|question| QuestionMatcher::new(question, language.as_deref())).collect();
    let mut analyzers = Analyzers::default();
    let mut events = Vec::new();
    let mut repeats: Vec<usize> = Vec::new();
    let mut looked_at = 0;
    for (rank, passage) in found.passages.iter().take(MAX_PASSAGES).enumerate() {
        let text = chars::truncate(&passage.text, MAX_NOTE_CHARS);
        if text.trim().is_empty() {
            continue;
        }
        looked_at += 1;
        let known = state.notes.iter().position(|note| note.text == text && note.source == found.source);
        if let Some(known) = known {
            renew(&mut state.notes[known], found, passage);
            continue;
        }
        let matches = matches(state, &matchers, &mut analyzers, found, rank, text, &passage.section_path);
        if matches.is_empty() {
            continue;
        }
        let fingerprint = similar::fingerprint(text);
        if let Some(original) = near_duplicate(state, &fingerprint, text) {
            repeats.push(state.notes[original].source);
            add_repeat(&mut state.notes[original], found.source, matches);
            continue;
        }
        if !has_room(state, limits, &matches) {
            continue;
        }
        events.push(event(state, found.source, &matches, text));
        state.notes.push(note(found, passage, text, matches, fingerprint));
    }
    let duplicate_of = repeats.first().copied().filter(|first| {
        *first != found.source
            && looked_at > 0
            && repeats.len() == looked_at
            && repeats.iter().all(|other| other == first)
    });
    (events, duplicate_of)
}

/// Updates a known passage to the capture that was read last: the newest one is kept the longest.
fn renew(note: &mut Note, found: &Passages<'_>, passage: &FoundPassage) {
    if note.capture_id != found.capture_id && found.capture_time >= note.capture_time {
        note.capture_id = found.capture_id;
        note.capture_time = found.capture_time;
        note.passage_id = passage.passage_id;
        note.char_start = passage.char_start;
    }
}

fn matches(
    state: &mut State,
    matchers: &[QuestionMatcher],
    analyzers: &mut Analyzers,
    found: &Passages<'_>,
    rank: usize,
    text: &str,
    section_path: &[String],
) -> Vec<NoteMatch> {
    let mut matches = Vec::new();
    let headings = chars::truncate(&section_path.join(" "), MAX_SECTION_CHARS).to_owned();
    let evidence = format!("{headings}\n{text}");
    for (question, matcher) in matchers.iter().enumerate() {
        let terms = matcher.terms_in(&evidence, analyzers);
        let Some(asked) = state.questions.get_mut(question) else { continue };
        asked.count(&terms);
        let is_searched = question == found.question;
        let ranked_first = is_searched && rank < FIRST_PASSAGES && !terms.is_empty();
        let judged_later = is_searched && rank == 0 && found.trusted_rank;
        if asked.coverage(&terms) >= WORTH_KEEPING || ranked_first || judged_later {
            matches.push(NoteMatch { question, terms, judged: false });
        }
    }
    matches
}

fn near_duplicate(state: &State, fingerprint: &[u32], text: &str) -> Option<usize> {
    let values = numbers::values(text);
    let same = |note: &Note| similar::resemble(&note.fingerprint, fingerprint) && numbers::values(&note.text) == values;
    state.notes.iter().position(same)
}

fn add_repeat(note: &mut Note, source: usize, matches: Vec<NoteMatch>) {
    if note.source != source && !note.also_in.contains(&source) {
        note.also_in.push(source);
    }
    for found in matches {
        if !note.matches.iter().any(|known| known.question == found.question) {
            note.matches.push(found);
        }
    }
}

/// Returns true if a question of the passage has a free place, or a worse note, and the run keeps few enough notes.
fn has_room(state: &State, limits: Limits, matches: &[NoteMatch]) -> bool {
    if state.notes.len() >= 2 * limits.notes * state.questions.len().max(1) {
        return false;
    }
    matches.iter().any(|found| {
        let Some(asked) = state.questions.get(found.question) else { return false };
        let of_question = state.notes.iter().flat_map(|note| &note.matches).filter(|m| m.question == found.question);
        let shares: Vec<f64> = of_question.map(|known| asked.coverage(&known.terms)).collect();
        let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
        shares.len() < limits.notes || asked.coverage(&found.terms) > least
    })
}

fn event(state: &State, source: usize, matches: &[NoteMatch], text: &str) -> Event {
    Event::Note {
        note: state.notes.len(),
        doc_id: state.sources[source].doc_id,
        questions: matches.iter().map(|found| found.question).collect(),
        quote: text.to_owned(),
    }
}

fn note(
    found: &Passages<'_>,
    passage: &FoundPassage,
    text: &str,
    matches: Vec<NoteMatch>,
    fingerprint: Vec<u32>,
) -> Note {
    let section = passage.section_path.last().map(|heading| chars::truncate(heading, MAX_SECTION_CHARS).to_owned());
    Note {
        source: found.source,
        capture_id: found.capture_id,
        capture_time: found.capture_time,
        passage_id: passage.passage_id,
        text: text.to_owned(),
        char_start: passage.char_start,
        section: section.unwrap_or_default(),
        matches,
        fingerprint,
        also_in: Vec::new(),
        rejected: false,
    }
}
