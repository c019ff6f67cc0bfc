//! Selection of the passages that are kept.

use std::cell::LazyCell;

use retrieval_core::analysis::Analyzers;
use retrieval_core::chars;

use model::{CaptureId, Timestamp};

use super::super::assignment::Limits;
use super::super::event::Event;
use super::super::state::{Note, NoteMatch, Question, State};
use super::super::step::FoundPassage;
use super::super::text::similar;
use super::super::text::words::QuestionMatcher;

/// Longest note in characters. Passages are shorter, except for blocks of code and data.
const MAX_NOTE_CHARS: usize = 2_000;
/// Passages of one document that are looked at.
const MAX_PASSAGES: usize = 12;
/// Longest heading kept with a note.
const MAX_SECTION_CHARS: usize = 200;
/// Share of a question's words that makes a passage worth keeping.
const WORTH_KEEPING: f64 = 0.3;
/// Notes that are compared with a passage sentence by sentence. A repeat beyond them is kept like any other passage.
const MAX_CANDIDATES: usize = 16;
/// Best passages of a document, which are kept for any word of the question.
const FIRST_PASSAGES: usize = 2;

/// Passages of one document, as a step found them.
pub(crate) struct Passages<'a> {
    pub question: usize,
    pub source: usize,
    pub capture_id: CaptureId,
    pub capture_time: Timestamp,
    pub passages: &'a [FoundPassage],
    /// True if the best passages come first; false for the order of the document.
    pub is_ranked: bool,
    /// True if the best one is kept even without words of the question, because a model can judge it.
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
    let best = best(state, matchers.get(found.question), &mut analyzers, found);
    for (at, passage) in found.passages.iter().take(MAX_PASSAGES).enumerate() {
        let text = chars::truncate(&passage.text, MAX_NOTE_CHARS);
        if text.trim().is_empty() {
            continue;
        }
        looked_at += 1;
        let rank = best.iter().position(|best| *best == at);
        let evidence = evidence(passage);
        let known = state.notes.iter().position(|note| note.text == text && note.source == found.source);
        if let Some(known) = known {
            renew(&mut state.notes[known], found, passage);
            if let Some(matcher) = matchers.get(found.question) {
                add_question(state, known, found, rank, &matcher.terms_in(&evidence, &mut analyzers));
            }
            continue;
        }
        let matches = matches(state, &matchers, &mut analyzers, found, rank, &evidence);
        if matches.is_empty() {
            continue;
        }
        let fingerprint = similar::fingerprint(text);
        if let Some(original) = original(state, &fingerprint, text) {
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

/// Returns the text that is compared with the questions: the headings above a passage, and its beginning.
fn evidence(passage: &FoundPassage) -> String {
    let headings = passage.section_path.join(" ");
    let headings = chars::truncate(&headings, MAX_SECTION_CHARS);
    format!("{headings}\n{}", chars::truncate(&passage.text, MAX_NOTE_CHARS))
}

/// Returns the positions of the best passages, the best one first: by rank, otherwise by the words of the question.
fn best(
    state: &State,
    matcher: Option<&QuestionMatcher>,
    analyzers: &mut Analyzers,
    found: &Passages<'_>,
) -> Vec<usize> {
    if found.is_ranked {
        return (0..FIRST_PASSAGES).collect();
    }
    let (Some(asked), Some(matcher)) = (state.questions.get(found.question), matcher) else { return Vec::new() };
    let mut shares: Vec<(f64, usize)> = Vec::new();
    for (at, passage) in found.passages.iter().take(MAX_PASSAGES).enumerate() {
        shares.push((asked.coverage(&matcher.terms_in(&evidence(passage), analyzers)), at));
    }
    shares.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    shares.into_iter().take(FIRST_PASSAGES).map(|(_, at)| at).collect()
}

fn matches(
    state: &mut State,
    matchers: &[QuestionMatcher],
    analyzers: &mut Analyzers,
    found: &Passages<'_>,
    rank: Option<usize>,
    evidence: &str,
) -> Vec<NoteMatch> {
    let mut matches = Vec::new();
    for (question, matcher) in matchers.iter().enumerate() {
        let terms = matcher.terms_in(evidence, analyzers);
        let Some(asked) = state.questions.get_mut(question) else { continue };
        asked.count(&terms);
        let rank = rank.filter(|_| question == found.question);
        if is_kept(asked, found, rank, &terms) {
            matches.push(NoteMatch { question, terms, judged: false });
        }
    }
    matches
}

/// Returns true if a passage with these terms is kept for a question. `rank`: that among the best passages which were
/// found for it.
fn is_kept(asked: &Question, found: &Passages<'_>, rank: Option<usize>, terms: &[u16]) -> bool {
    let ranked_first = rank.is_some() && !terms.is_empty();
    let judged_later = rank == Some(0) && found.trusted_rank;
    asked.coverage(terms) >= WORTH_KEEPING || ranked_first || judged_later
}

/// Keeps a known passage also for the question for which it was found again. It is not counted again.
fn add_question(state: &mut State, note: usize, found: &Passages<'_>, rank: Option<usize>, terms: &[u16]) {
    let Some(asked) = state.questions.get(found.question) else { return };
    let note = &mut state.notes[note];
    let is_new = note.matches.iter().all(|known| known.question != found.question);
    if is_new && is_kept(asked, found, rank, terms) {
        note.matches.push(NoteMatch { question: found.question, terms: terms.to_vec(), judged: false });
    }
}

/// Returns the note with the same sentences as a passage. A sentence that only one of both has keeps the passage: it
/// may contradict the note, and neither source is credited with sentences of the other.
fn original(state: &State, fingerprint: &[u32], text: &str) -> Option<usize> {
    let wordings = LazyCell::new(|| similar::wordings(text));
    let notes = state.notes.iter().enumerate();
    let mut alike = notes.filter(|(_, note)| similar::resemble(&note.fingerprint, fingerprint)).take(MAX_CANDIDATES);
    alike.find(|(_, note)| similar::wordings(&note.text) == *wordings).map(|(at, _)| at)
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
