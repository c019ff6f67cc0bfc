//! Texts that hits are quoted from.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use admission::Permit;
use docstore::{Capture, Document, LoadedDocument, PartMap, WantedParts};
use model::{CaptureId, Collection, DocId};
use retrieval_core::sections::{Buckets, QueryWords, SectionQuery};

use super::candidate::Candidate;
use super::vectors::RankedDocument;
use super::{Detail, Search};
use crate::App;
use crate::error::Result;
use crate::excerpt::Excerpt;

/// Bytes that are read of one document to find passages: about 10 ms of computation.
const DOCUMENT_BYTES: usize = 512 << 10;

/// A candidate in its place, with the text to quote from.
pub struct QuoteSource {
    pub candidate: Candidate,
    pub document: Document,
    pub capture: Capture,
    pub excerpt: Excerpt,
    /// Positions of the best passages in the excerpt, best first, as far as ranking knows them.
    pub ranked: Vec<usize>,
    /// Positions in the excerpt of the passages that are nearest in meaning, best first.
    pub nearest: Vec<usize>,
    /// True if the best passages are to be found in the excerpt: ranking read less of the document, or another capture.
    pub is_searched: bool,
}

/// Parts of a long content to quote from.
struct Plan {
    parts: Vec<usize>,
    is_searched: bool,
}

impl App {
    /// Reads the text to quote from of loaded candidates: the beginning of long contents unless it `quotes_parts`. Returns a permit
    /// for it.
    pub(super) async fn read_quotes(
        &self,
        search: &Search<'_>,
        best: Vec<Candidate>,
        quotes_parts: bool,
    ) -> Result<(Vec<QuoteSource>, Option<Permit>)> {
        let candidates = best.into_iter().filter_map(|mut candidate| {
            let loaded = *candidate.loaded.take()?;
            Some((candidate, loaded))
        });
        let candidates: Vec<(Candidate, LoadedDocument)> = candidates.collect();
        let plans = match quotes_parts {
            true => self.plan_quotes(search, &candidates).await?,
            false => HashMap::new(),
        };
        let wanted: Vec<WantedParts> = plans
            .iter()
            .filter(|(_, plan)| !plan.parts.is_empty())
            .map(|(capture_id, plan)| WantedParts { capture_id: *capture_id, parts: plan.parts.clone() })
            .collect();
        let bytes = candidates.iter().filter_map(|(_, loaded)| {
            let map = loaded.capture.parts.as_ref()?;
            Some(
                plans
                    .get(&loaded.capture.capture_id)?
                    .parts
                    .iter()
                    .map(|part| map.bytes(*part..part + 1))
                    .sum::<usize>(),
            )
        });
        let bytes: usize = bytes.sum();
        let permit = if bytes == 0 { None } else { Some(self.contents.reserve(search.organization_id, bytes).await) };
        let mut parts = self.load_parts_of(search, wanted).await?;
        let sources = candidates.into_iter().map(|(candidate, loaded)| {
            let LoadedDocument { document, mut capture, mut passages } = loaded;
            let same = candidate.document.state.capture_id == capture.capture_id;
            let near = if same { candidate.nearest.clone() } else { Vec::new() };
            let mut content = std::mem::take(&mut capture.content);
            let Some(map) = &capture.parts else {
                let excerpt = Excerpt::beginning(content, passages);
                let ranked = known_positions(&candidate.passages, &excerpt);
                let nearest = known_positions(&near, &excerpt);
                let is_searched = !(candidate.complete && same);
                return QuoteSource { candidate, document, capture, excerpt, ranked, nearest, is_searched };
            };
            let found = parts.remove(&capture.capture_id).unwrap_or_default();
            let is_searched = plans.get(&capture.capture_id).is_some_and(|plan| plan.is_searched);
            let (mut excerpt, is_searched) = if found.is_empty() {
                // The first part alone: more may be loaded, but must not make a difference.
                content.truncate(content.floor_char_boundary(map.start(1).byte));
                passages.truncate(map.start(1).passage);
                (Excerpt::beginning(content, passages), false)
            } else {
                (Excerpt::default(), is_searched)
            };
            found.into_iter().for_each(|part| excerpt.push(map, part));
            let ranked = if is_searched { vec![0] } else { known_positions(&candidate.passages, &excerpt) };
            let nearest = known_positions(&near, &excerpt);
            QuoteSource { candidate, document, capture, excerpt, ranked, nearest, is_searched }
        });
        Ok((sources.collect(), permit))
    }

    /// Reads the documents of those candidates that were ranked by cached terms. Returns the number of those that are no longer
    /// stored, which it removes.
    pub(super) async fn load_best(&self, search: &Search<'_>, best: &mut Vec<Candidate>) -> Result<usize> {
        let load = |collection: Collection| {
            let missing = best.iter().filter(|one| one.loaded.is_none() && one.collection == collection);
            self.load_ranked(search, collection, missing.map(|one| &*one.document).collect())
        };
        let own = Collection::Workspace(search.organization_id);
        let (mut loaded, workspace) = futures_util::try_join!(load(Collection::Web), load(own))?;
        loaded.extend(workspace);
        for candidate in best.iter_mut().filter(|candidate| candidate.loaded.is_none()) {
            candidate.loaded = loaded.remove(&candidate.document.doc_id()).map(Box::new);
        }
        let found = best.len();
        best.retain(|candidate| candidate.loaded.is_some());
        Ok(found - best.len())
    }

    /// Reads documents that were ranked by cached terms: mostly they have not changed since, which is one query.
    async fn load_ranked(
        &self,
        search: &Search<'_>,
        collection: Collection,
        ranked: Vec<&RankedDocument>,
    ) -> Result<HashMap<DocId, LoadedDocument>> {
        let whole = ranked.iter().filter(|document| docstore::is_whole(document.terms.content_bytes()));
        let known: Vec<(DocId, CaptureId)> =
            whole.map(|document| (document.doc_id(), document.state.capture_id)).collect();
        let mut loaded = match known.is_empty() {
            true => HashMap::new(),
            false => search.read(self.store.load_known_documents(collection, known).await?),
        };
        let others = ranked.iter().map(|document| document.doc_id()).filter(|doc_id| !loaded.contains_key(doc_id));
        let others = others.collect();
        loaded.extend(self.load_by_id(search, collection, others).await?);
        Ok(loaded)
    }

    /// Chooses the parts of long contents to quote from: those with the best passages of ranking, or those with the nearest
    /// passages and with the most and rarest words of the query if ranking did not read the whole. Those with the phrase of an exact match
    /// come first.
    async fn plan_quotes(
        &self,
        search: &Search<'_>,
        candidates: &[(Candidate, LoadedDocument)],
    ) -> Result<HashMap<CaptureId, Plan>> {
        let mut plans = HashMap::new();
        let mut left = self.options.read_limits.search_bytes;
        let (mut searched, mut languages) = (Vec::new(), Vec::new());
        // The snippet comes from the best passage, even if none is quoted.
        let quoted = search.request.passages_per_hit.max(1);
        for (candidate, LoadedDocument { document, capture, .. }) in candidates {
            let Some(map) = &capture.parts else { continue };
            let same = candidate.document.state.capture_id == capture.capture_id;
            let phrase_parts = if same { candidate.phrase_parts.as_slice() } else { &[] };
            if candidate.complete && same {
                let ranked = candidate.passages.iter().map(|ordinal| map.part_of_passage(*ordinal));
                let with_phrase = best_first(phrase_parts, ranked.clone()).into_iter().take(quoted);
                let parts = take_within(with_phrase.chain(ranked.take(quoted)), map, &mut left);
                plans.insert(capture.capture_id, Plan { parts, is_searched: false });
            } else {
                let nearest = candidate.nearest.iter().take(if same { quoted } else { 0 });
                let near: Vec<usize> = nearest.map(|ordinal| map.part_of_passage(*ordinal)).collect();
                searched.push((capture.capture_id, map, near, phrase_parts));
                languages.push((capture.capture_id, document.language.clone(), map.count()));
            }
        }
        let with_words = self.find_parts_with_words(search, languages).await?;
        for (done, (capture_id, map, near, phrase_parts)) in searched.iter().enumerate() {
            // An equal share of the rest, at least one part.
            let mut share = left / (searched.len() - done);
            let with_words = with_words.get(capture_id).into_iter().flatten();
            let others = near.iter().chain(with_words).copied();
            let mut best = best_first(phrase_parts, others.clone());
            best.extend(others);
            let first = best.first().map_or(0, |part| map.bytes(*part..part + 1));
            share = share.min(DOCUMENT_BYTES).max(first).min(left);
            let before = share;
            let parts = take_within(best.into_iter(), map, &mut share);
            left -= before - share;
            plans.insert(*capture_id, Plan { parts, is_searched: true });
        }
        Ok(plans)
    }

    /// Finds the parts with words of the query, best first. The long contents are given with their languages and numbers of parts.
    async fn find_parts_with_words(
        &self,
        search: &Search<'_>,
        contents: Vec<(CaptureId, Option<String>, usize)>,
    ) -> Result<HashMap<CaptureId, Vec<usize>>> {
        if contents.is_empty() {
            return Ok(HashMap::new());
        }
        let request = Arc::clone(search.request);
        let queries = self.compute(search, move |_| section_queries(&request.query, contents)).await?;
        let wanted = queries.iter().map(|(capture_id, query)| (*capture_id, query.buckets())).collect();
        let buckets = self.load_buckets(search, wanted).await?;
        let finding = self.compute(search, move |_| {
            let none = Buckets::new();
            let best = queries.iter().map(|(capture_id, query)| {
                let buckets = buckets.get(capture_id).unwrap_or(&none);
                (*capture_id, query.best(buckets))
            });
            best.collect::<HashMap<_, _>>()
        });
        finding.await
    }
}

/// Returns true if parts of long contents are needed to quote from.
pub(super) fn needs_parts(search: &Search<'_>, best: &[Candidate]) -> bool {
    let is_long = |one: &Candidate| one.loaded.as_ref().is_some_and(|loaded| loaded.capture.parts.is_some());
    search.request.detail > Detail::Ids && best.iter().any(is_long)
}

/// Analyses a query for long contents, given with their languages and numbers of parts: once for each language.
fn section_queries(query: &str, contents: Vec<(CaptureId, Option<String>, usize)>) -> Vec<(CaptureId, SectionQuery)> {
    let mut by_language: HashMap<Option<String>, QueryWords> = HashMap::new();
    let queries = contents.into_iter().map(|(capture_id, language, parts)| {
        let words = by_language.entry(language);
        let words = words.or_insert_with_key(|language| QueryWords::new(query, language.as_deref()));
        (capture_id, words.among(parts))
    });
    queries.collect()
}

/// Returns the parts in the order of the best ones, without repetitions; last those that are not among the best.
fn best_first(parts: &[usize], best: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut left: HashSet<usize> = parts.iter().copied().collect();
    best.chain(parts.iter().copied()).filter(|part| left.remove(part)).collect()
}

/// Takes parts, best first, until one does not fit.
fn take_within(parts: impl Iterator<Item = usize>, map: &PartMap, left: &mut usize) -> Vec<usize> {
    let mut taken = HashSet::new();
    for part in parts {
        if taken.contains(&part) {
            continue;
        }
        let Some(rest) = left.checked_sub(map.bytes(part..part + 1)) else { break };
        *left = rest;
        taken.insert(part);
    }
    taken.into_iter().collect()
}

/// Returns where passages are in the excerpt, given by ordinal.
fn known_positions(passages: &[usize], excerpt: &Excerpt) -> Vec<usize> {
    passages.iter().filter_map(|ordinal| excerpt.position(*ordinal)).collect()
}
