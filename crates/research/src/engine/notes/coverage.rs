//! Coverage of questions by notes.

use super::super::state::State;

/// Share of a question's words in one passage that counts as an answer.
const ANSWERS: f64 = 0.5;
/// Share in one passage that counts if several passages together have more.
pub(crate) const ANSWERS_PARTLY: f64 = 0.35;
/// Share in the best passages together that leaves no gap.
const COMPLETE: f64 = 0.8;
/// Passages that are looked at together.
const BEST: usize = 5;

/// Returns the notes of a question with the share of its words that each contains, best first.
pub(crate) fn best(state: &State, question: usize) -> Vec<(usize, f64)> {
    let Some(asked) = state.questions.get(question) else { return Vec::new() };
    let mut notes: Vec<(bool, usize, f64)> = Vec::new();
    for (at, note) in state.notes.iter().enumerate().filter(|(_, note)| !note.rejected) {
        if let Some(found) = note.matches.iter().find(|found| found.question == question) {
            notes.push((found.judged, at, asked.coverage(&found.terms)));
        }
    }
    notes.sort_by(|a, b| b.0.cmp(&a.0).then(b.2.total_cmp(&a.2)).then(a.1.cmp(&b.1)));
    notes.into_iter().map(|(_, note, share)| (note, share)).collect()
}

/// Share of the words in the best single note, and in the best notes together.
fn shares(state: &State, question: usize) -> (f64, f64) {
    let Some(asked) = state.questions.get(question) else { return (0.0, 0.0) };
    let notes = best(state, question);
    let single = notes.iter().map(|(_, share)| *share).fold(0.0, f64::max);
    (single, asked.coverage(&union(state, question)))
}

fn union(state: &State, question: usize) -> Vec<u16> {
    let notes = best(state, question).into_iter().take(BEST);
    let found = notes.filter_map(|(note, _)| state.notes.get(note));
    let mut terms: Vec<u16> = found
        .flat_map(|note| note.matches.iter().filter(|found| found.question == question))
        .flat_map(|found| found.terms.iter().copied())
        .collect();
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// Returns true if the notes answer the question: by its words, or by the model's judgement of a note that has some.
pub(crate) fn is_answered(state: &State, question: usize) -> bool {
    let (single, together) = shares(state, question);
    let judged = state.questions.get(question).and_then(|asked| asked.judged_answered) == Some(true);
    single >= ANSWERS || (single >= ANSWERS_PARTLY && together >= COMPLETE) || (judged && single > 0.0)
}

/// Returns true if another search could help. The model can ask for one but cannot prevent one, so that text of a
/// document never shortens the research.
pub(crate) fn has_gap(state: &State, question: usize) -> bool {
    let (single, together) = shares(state, question);
    let refused = state.questions.get(question).and_then(|asked| asked.judged_answered) == Some(false);
    refused || single < ANSWERS || together < COMPLETE
}

/// Returns the words that the best notes do not contain, and the rarest words of all; the rarest first.
pub(crate) fn missing_and_rare(state: &State, question: usize) -> (Vec<u16>, Vec<u16>) {
    let Some(asked) = state.questions.get(question) else { return (Vec::new(), Vec::new()) };
    let found = union(state, question);
    let mut order: Vec<(u32, u16)> = Vec::new();
    for (at, term) in asked.terms.iter().enumerate() {
        order.extend(u16::try_from(at).map(|at| (term.passages, at)));
    }
    order.sort_unstable();
    let missing = order.iter().map(|(_, at)| *at).filter(|at| !found.contains(at)).take(6).collect();
    (missing, order.iter().map(|(_, at)| *at).take(3).collect())
}
