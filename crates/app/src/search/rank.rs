//! Lexical ranking of candidates, and the texts that a model ranks them by.

use admission::Stop;
use docstore::LoadedDocument;
use ingest::prepare::span;
use model::Timestamp;
use retrieval_core::analysis::Language;
use retrieval_core::fusion::{COMPARED, Comparison, Trust, Weights};
use retrieval_core::rerank::{self, Document, Query};
use retrieval_core::statistics::CollectionStatistics;
use retrieval_core::{chars, fusion};

use super::candidate::{Candidate, CandidateList, SemanticList};

/// Characters of one text that models read; they would truncate the rest.
const MODEL_CHARS: usize = 2_000;

/// Passages in one text that models read.
const MODEL_PASSAGES: usize = 3;

/// Share of a provider's order in the score of a snippet. The rest is lexical evidence.
const PROVIDER_ORDER: f64 = 0.5;

/// Scores the candidates of all lists on one scale, and finds their best passages.
///
/// The candidates are ranked as those of one collection, with the statistics of all: the same text has the same score
/// in either index, and a rare word of a small workspace is as rare as it is among all documents. A list without
/// candidates does not affect the others. Scores nothing once it is stopped: nobody waits for the result.
pub fn rank(query: &str, lists: &mut [CandidateList], now: Timestamp, stop: &Stop) {
    let matching = lists.iter_mut().filter(|list| !list.candidates.is_empty());
    let statistics = matching.map(|list| std::mem::take(&mut list.statistics));
    let statistics = statistics.reduce(CollectionStatistics::merged).unwrap_or_default();
    let documents: Vec<Document<'_>> = lists
        .iter()
        .flat_map(|list| &list.candidates)
        .map(|candidate| Document {
            terms: &candidate.document.terms,
            published_at: candidate.document.published_at,
            by_words: candidate.first_stage_score > 0.0 || candidate.provider_rank.is_some(),
        })
        .collect();
    let query = Query { text: query, now: Some(now) };
    let Some(evidence) = rerank::score_while(&query, &documents, &statistics, || !stop.is_stopped()) else { return };
    let candidates = lists.iter_mut().flat_map(|list| &mut list.candidates);
    for (candidate, evidence) in candidates.zip(evidence) {
        candidate.score = evidence.score;
        candidate.passages = evidence.passages;
        candidate.is_match = evidence.is_match;
        candidate.complete = evidence.complete;
    }
    lists.iter_mut().for_each(|list| {
        trust_providers(&mut list.candidates);
        list.sort_by_lexical_evidence();
    });
    add_semantic_evidence(lists);
}

/// Adds the scores of the semantic search, as far as its model agrees with the words or a document stands out, and sorts by the sums.
/// They are relative to the best lexical score of all lists, so that the sums of all lists are on one scale too.
fn add_semantic_evidence(lists: &mut [CandidateList]) {
    let all = || lists.iter().flat_map(|list| &list.candidates);
    let Some(nearest) = all().filter_map(Candidate::cosine).max_by(f32::total_cmp) else { return };
    let best = all().map(|candidate| candidate.score).fold(0.0, f64::max);
    // Without any matching word there is no other evidence.
    let scale = if best > 0.0 { best } else { 1.0 };
    let semantic = lists.iter().filter_map(|list| list.semantic.as_ref());
    let Some(floor) = common_floor(semantic) else { return };
    let comparisons: Vec<Comparison> = lists.iter().filter_map(compare).collect();
    let calibration = lists.iter().find_map(|list| list.semantic.as_ref()?.calibration);
    let trust = calibration.map_or(Trust::UNKNOWN, |calibration| calibration.trust(language_of_matches(lists)));
    let weights = Weights::of(&comparisons, &trust);
    for list in lists {
        let tail = list.semantic.as_ref().and_then(|semantic| semantic.tail.as_ref());
        let typical = typical_passages(&list.candidates);
        for candidate in &mut list.candidates {
            candidate.meaning = candidate.cosine().map_or(0.0, |cosine| {
                let excess = tail.map_or(0.0, |tail| tail.excess(cosine, candidate.document.passages() / typical));
                weights.score(fusion::share(cosine, floor, nearest), candidate.score / scale, excess)
            });
            candidate.score += scale * candidate.meaning;
        }
        list.sort_by_score();
    }
}

/// Returns the median number of passages of the nearest documents, at least 1.
fn typical_passages(candidates: &[Candidate]) -> f64 {
    let nearest = candidates.iter().filter(|candidate| candidate.trace.semantic.is_some());
    let mut passages: Vec<f64> = nearest.map(|candidate| candidate.document.passages()).collect();
    passages.sort_unstable_by(f64::total_cmp);
    passages.get(passages.len() / 2).copied().unwrap_or(1.0)
}

/// Compares the words with the model in a list that is sorted by lexical evidence. Results of providers are not listed, however near
/// they are.
fn compare(list: &CandidateList) -> Option<Comparison> {
    let SemanticList { listed, documents, .. } = *list.semantic.as_ref()?;
    let matching = list.candidates.iter().filter(|candidate| is_listed_match(candidate));
    let places = matching.map(|candidate| candidate.trace.semantic.map(|place| place.rank as usize - 1));
    Some(Comparison::of(places, listed, documents))
}

/// Returns the most common language of the best lexical results of all lists, which are sorted by lexical evidence.
fn language_of_matches(lists: &[CandidateList]) -> Option<Language> {
    let best = |list: &CandidateList| {
        let matching = list.candidates.iter().filter(|candidate| is_listed_match(candidate)).take(COMPARED);
        matching.map(|candidate| candidate.document.terms.language()).collect::<Vec<_>>()
    };
    fusion::common_language(lists.iter().flat_map(best))
}

/// Returns true for a document of the index that words found.
fn is_listed_match(candidate: &Candidate) -> bool {
    candidate.first_stage_score > 0.0 && candidate.provider_rank.is_none()
}

/// Returns the lowest cosine of the nearest documents of all lists. Lists of whole collections end with documents that are not near.
fn common_floor<'a>(lists: impl Iterator<Item = &'a SemanticList>) -> Option<f32> {
    let (cut, whole): (Vec<&SemanticList>, Vec<&SemanticList>) =
        lists.partition(|list| list.documents > list.listed as u64);
    let highest = cut.iter().map(|list| list.floor).max_by(f32::total_cmp);
    highest.or_else(|| whole.iter().map(|list| list.floor).min_by(f32::total_cmp))
}

/// Moves the scores of snippets towards the order of the providers, which know the whole pages: the first one has a share of the
/// highest score among them, and so on. The scores stay on their scale.
fn trust_providers(candidates: &mut [Candidate]) {
    let mut snippets: Vec<&mut Candidate> =
        candidates.iter_mut().filter(|one| one.document.is_snippet && one.provider_rank.is_some()).collect();
    let mut scores: Vec<f64> = snippets.iter().map(|one| one.score).collect();
    scores.sort_unstable_by(|one, other| other.total_cmp(one));
    snippets.sort_by_key(|one| one.provider_rank);
    for (snippet, score) in snippets.into_iter().zip(scores) {
        snippet.score += PROVIDER_ORDER * (score - snippet.score);
    }
}

/// Returns true if a model reads only some passages of the candidate.
pub fn is_cut_for_model(candidate: &Candidate) -> bool {
    !candidate.loaded.as_deref().is_some_and(fits_model)
}

/// Returns true if a model reads the whole document.
fn fits_model(LoadedDocument { document, capture, passages }: &LoadedDocument) -> bool {
    let title = document.title.as_ref().map_or(0, String::len);
    capture.parts.is_none() && passages.len() <= MODEL_PASSAGES && title + capture.content.len() <= MODEL_CHARS
}

/// Returns the text that a model scores a candidate by: title and best passages. Empty if the document is not loaded.
pub fn model_text(candidate: &Candidate) -> String {
    let Some(loaded) = candidate.loaded.as_deref() else { return String::new() };
    let LoadedDocument { document, capture, passages } = loaded;
    let known: Vec<usize> = candidate.passages.iter().copied().filter(|position| *position < passages.len()).collect();
    // The nearest passages of a long document may be behind what was read of it.
    let others = if fits_model(loaded) { passages.len() } else { usize::from(known.is_empty()) };
    let others: Vec<usize> = (0..passages.len()).filter(|position| !known.contains(position)).take(others).collect();
    let mut text = document.title.clone().unwrap_or_default();
    for passage in known.iter().chain(&others).take(MODEL_PASSAGES).filter_map(|position| passages.get(*position)) {
        text.push('\n');
        text.push_str(span(passage).text(&capture.content));
    }
    if text.trim().is_empty() {
        // Some endpoints reject a whole request if one text is blank.
        text.clone_from(&document.canonical_url);
    }
    chars::truncate(&text, MODEL_CHARS).to_owned()
}
