//! Choice of the sentences that answer a question.

use std::collections::{BTreeMap, BTreeSet};

use retrieval_core::analysis::Analyzers;

use super::super::notes::coverage;
use super::super::state::State;
use super::super::text::similar::Gist;
use super::super::text::words::QuestionMatcher;
use super::{Quote, of_note, text};

/// Worth of a question's words that no chosen sentence has.
const NOVELTY: f64 = 0.6;
/// Worth of the words in the rest of the passage, which is the context of the sentence.
const CONTEXT: f64 = 0.3;
/// Worth of the model's judgement.
const JUDGED: f64 = 0.3;
/// Penalty for each sentence of the same source.
const SAME_SOURCE: f64 = 0.1;
/// Least share of a question's words in a sentence.
const LEAST_SHARE: f64 = 0.12;
/// Least score, relative to the best sentence.
const LEAST_SCORE: f64 = 0.4;

/// A sentence that answers a question.
#[derive(Clone, Debug)]
pub(crate) struct Excerpt {
    pub quote: Quote,
    pub source: usize,
    pub score: f64,
    pub terms: Vec<u16>,
    pub gist: Gist,
    /// Other sources that say the same.
    pub also: BTreeSet<usize>,
}

/// Share of a question's words in a sentence, relative to the question that it answers best, for which it is shown.
const OWN_QUESTION: f64 = 0.7;

/// Returns the sentences of all questions, best first. A sentence about one question is not shown for another that merely
/// shares its subject.
pub(crate) fn by_question(state: &State) -> Vec<Vec<Excerpt>> {
    let mut all: Vec<Vec<Excerpt>> = (0..state.questions.len()).map(|question| candidates(state, question)).collect();
    let mut best: BTreeMap<Quote, f64> = BTreeMap::new();
    for (question, list) in state.questions.iter().zip(&all) {
        for excerpt in list {
            let most = best.entry(excerpt.quote).or_insert(0.0);
            *most = most.max(question.coverage(&excerpt.terms));
        }
    }
    for (question, list) in state.questions.iter().zip(&mut all) {
        list.retain(|excerpt| {
            question.coverage(&excerpt.terms) >= OWN_QUESTION * best.get(&excerpt.quote).copied().unwrap_or(0.0)
        });
    }
    all
}

/// Returns the sentences of a question's notes that contain words of it, best first.
pub(crate) fn candidates(state: &State, question: usize) -> Vec<Excerpt> {
    let Some(asked) = state.questions.get(question) else { return Vec::new() };
    let mut analyzers = Analyzers::default();
    let mut matchers: BTreeMap<Option<&str>, QuestionMatcher> = BTreeMap::new();
    let mut found = Vec::new();
    let is_answered = coverage::is_answered(state, question);
    for (note, share) in coverage::best(state, question) {
        if !is_answered && share < coverage::ANSWERS_PARTLY {
            // A word in common is not worth reading.
            continue;
        }
        let kept = &state.notes[note];
        let language = state.sources[kept.source].language.as_deref();
        let matcher = matchers.entry(language).or_insert_with(|| QuestionMatcher::new(asked, language));
        let judged = kept.matches.iter().any(|found| found.question == question && found.judged);
        for quote in of_note(state, note) {
            let text = text(state, quote);
            let terms = matcher.terms_in(text, &mut analyzers);
            let own = asked.coverage(&terms);
            if own < LEAST_SHARE && !(judged && share == 0.0) {
                continue;
            }
            let score = own + CONTEXT * share + if judged { JUDGED } else { 0.0 } - form_penalty(text);
            found.push(Excerpt {
                quote,
                source: kept.source,
                score,
                terms,
                gist: Gist::of(text),
                also: kept.also_in.iter().copied().collect(),
            });
        }
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.quote.cmp(&b.quote)));
    found
}

/// Penalty for a sentence that says little alone: a fragment, a question, a reference to the sentence before.
fn form_penalty(text: &str) -> f64 {
    const REFERS_BACK: &[&str] = &[
        "it",
        "this",
        "these",
        "that",
        "those",
        "they",
        "he",
        "she",
        "however",
        "but",
        "also",
        "therefore",
        "dies",
        "diese",
        "er",
        "sie",
        "es",
        "jedoch",
        "aber",
        "il",
        "elle",
        "cela",
        "ceci",
        "esto",
        "ello",
    ];
    let mut penalty = 0.0;
    let letters = text.chars().filter(|c| c.is_alphanumeric()).count();
    if letters < 20 && text.is_ascii() {
        penalty += 0.2;
    }
    if text.ends_with('?') {
        penalty += 0.4;
    }
    let first = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
    if REFERS_BACK.contains(&&*first) {
        penalty += 0.15;
    }
    penalty
}

/// Chooses up to `limit` sentences: the best one first, then those that add words, numbers and sources. Sentences that
/// say the same as a chosen one, or as one of `shown`, are added to it as further sources.
pub(crate) fn choose(
    state: &State,
    question: usize,
    candidates: &[Excerpt],
    limit: usize,
    shown: &mut [Excerpt],
) -> Vec<Excerpt> {
    let Some(asked) = state.questions.get(question) else { return Vec::new() };
    let mut left: Vec<&Excerpt> = Vec::new();
    for candidate in candidates {
        match shown.iter_mut().find(|known| known.gist.says_the_same(&candidate.gist) || overlaps(known, candidate)) {
            Some(known) => add_source(known, candidate),
            None => left.push(candidate),
        }
    }
    let least = left.first().map_or(0.0, |best| LEAST_SCORE * best.score);
    let mut chosen: Vec<Excerpt> = Vec::new();
    let mut covered: Vec<u16> = Vec::new();
    while chosen.len() < limit {
        let worth = |excerpt: &Excerpt| {
            let same = chosen.iter().filter(|known| known.source == excerpt.source).count();
            let new: Vec<u16> = excerpt.terms.iter().copied().filter(|term| !covered.contains(term)).collect();
            excerpt.score + NOVELTY * asked.coverage(&new) - SAME_SOURCE * same as f64
        };
        let mut best: Option<(usize, f64)> = None;
        for (at, excerpt) in left.iter().enumerate().filter(|(_, excerpt)| excerpt.score >= least) {
            let worth = worth(excerpt);
            if best.is_none_or(|(_, most)| worth > most) {
                best = Some((at, worth));
            }
        }
        let Some((at, _)) = best else { break };
        let mut excerpt = left.remove(at).clone();
        left.retain(|other| {
            let same = excerpt.gist.says_the_same(&other.gist);
            if same {
                add_source(&mut excerpt, other);
            }
            !same
        });
        covered.extend(&excerpt.terms);
        chosen.push(excerpt);
    }
    chosen
}

fn overlaps(one: &Excerpt, other: &Excerpt) -> bool {
    one.quote.note == other.quote.note && one.quote.start < other.quote.end && other.quote.start < one.quote.end
}

fn add_source(known: &mut Excerpt, same: &Excerpt) {
    known.also.extend(same.also.iter().copied().chain([same.source]));
    known.also.remove(&known.source);
}
