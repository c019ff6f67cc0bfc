//! Check of exact matches in the text.

use std::collections::HashMap;
use std::ops::Range;

use admission::Stop;
use docstore::{LoadedDocument, LoadedPart, PartMap, WantedParts};
use engine::Hit;
use ingest::prepare::name_beside_title;
use model::{CaptureId, DocId};
use retrieval_core::phrase::{Occurrences, Phrases};
use retrieval_core::sections::{Buckets, PhraseSections, PhraseWords};

use super::{Search, SearchRequest};
use crate::App;
use crate::content_budget::steps;
use crate::error::Result;

/// Parts of long contents with a phrase: those that contain a whole one, or, if none of those that were read does, those that may contain
/// one.
pub type PhraseParts = HashMap<DocId, Vec<usize>>;

/// Sections of one long content in which a phrase may be.
struct Place {
    doc_id: DocId,
    capture_id: CaptureId,
    language: Option<String>,
    /// Runs of neighbouring parts.
    runs: Vec<Range<usize>>,
    /// Further parts, which the budget does not allow to read.
    unread: Vec<usize>,
}

/// Neighbouring parts of a long content, joined.
#[derive(Default)]
struct Joined {
    text: String,
    parts: Vec<usize>,
    /// Byte in the text at which each part starts.
    starts: Vec<usize>,
}

impl App {
    /// Drops documents without any of the searched phrases. Beyond its beginning, a long content is read only where a phrase may be, in
    /// the order of `hits` and as far as the limit of bytes allows. If that is not enough to decide, the document stays if the engine
    /// verifies phrases. Returns the rest, with the parts to quote the phrases from.
    pub(super) async fn keep_exact(
        &self,
        search: &Search<'_>,
        loaded: HashMap<DocId, LoadedDocument>,
        hits: &[Hit],
        verified_by_engine: bool,
    ) -> Result<(HashMap<DocId, LoadedDocument>, PhraseParts)> {
        let mut kept = HashMap::with_capacity(loaded.len());
        let mut others = HashMap::new();
        let mut found = PhraseParts::new();
        for step in steps(loaded.into_values(), |loaded| loaded.capture.content.len()) {
            let request = search.request.clone();
            let checking = self.compute(search, move |stop| check(&request, step, stop));
            for (loaded, Occurrences { any, sections }) in checking.await? {
                let is_whole =
                    loaded.capture.parts.as_ref().is_none_or(|map| map.end().byte <= loaded.capture.content.len());
                if any {
                    if loaded.capture.parts.is_some() {
                        found.insert(loaded.document.doc_id, sections);
                    }
                    kept.insert(loaded.document.doc_id, loaded);
                } else if !is_whole {
                    others.insert(loaded.document.doc_id, loaded);
                }
            }
        }
        if !others.is_empty() && search.is_out_of_time() {
            // What is not decided counts as in a content that is too long to decide.
            kept.extend(others.into_iter().filter(|_| verified_by_engine));
            return Ok((kept, found));
        }
        let places = self.find_places(search, &others, hits).await?;
        let undecided = places.iter().filter(|place| verified_by_engine && !place.unread.is_empty());
        let undecided: Vec<(DocId, Vec<usize>)> = undecided.map(|place| (place.doc_id, place.unread.clone())).collect();
        let wanted = places.iter().filter(|place| !place.runs.is_empty()).map(|place| WantedParts {
            capture_id: place.capture_id,
            parts: place.runs.iter().cloned().flatten().collect(),
        });
        let mut parts = self.load_parts_of(search, wanted.collect()).await?;
        let texts = places.into_iter().flat_map(|place| {
            let parts = parts.remove(&place.capture_id).unwrap_or_default();
            joined(&place.runs, parts).into_iter().map(move |run| (place.doc_id, run, place.language.clone()))
        });
        for step in steps(texts, |(_, run, _)| run.text.len()) {
            let request = search.request.clone();
            let checking = self.compute(search, move |stop| check_texts(&request, step, stop));
            for (doc_id, parts) in checking.await? {
                found.entry(doc_id).or_default().extend(parts);
            }
        }
        for (doc_id, unread) in undecided {
            found.entry(doc_id).or_insert(unread);
        }
        kept.extend(others.into_iter().filter(|(doc_id, _)| found.contains_key(doc_id)));
        Ok((kept, found))
    }

    /// Finds where the phrases may be, best hits first, within the budget.
    async fn find_places(
        &self,
        search: &Search<'_>,
        documents: &HashMap<DocId, LoadedDocument>,
        hits: &[Hit],
    ) -> Result<Vec<Place>> {
        let request = search.request.clone();
        let phrases = self.compute(search, move |_| PhraseWords::new(request.texts())).await?;
        let long = hits.iter().filter_map(|hit| {
            let loaded = documents.get(&hit.doc_id)?;
            let map = loaded.capture.parts.as_ref()?;
            Some((loaded, map, phrases.among(map.count())))
        });
        let long: Vec<(&LoadedDocument, &PartMap, PhraseSections)> = long.collect();
        let buckets = long.iter().map(|(loaded, _, phrases)| (loaded.capture.capture_id, phrases.buckets()));
        let buckets = self.load_buckets(search, buckets.collect()).await?;
        let mut left = self.options.read_limits.search_bytes;
        let none = Buckets::new();
        let places = long.into_iter().map(|(loaded, map, phrases)| {
            let capture_id = loaded.capture.capture_id;
            // The last part of the beginning is read again: a phrase may end in the next one.
            let known = map.first_parts(loaded.capture.content.len()) - 1;
            let mut place = Place {
                doc_id: loaded.document.doc_id,
                capture_id,
                language: loaded.document.language.clone(),
                runs: Vec::new(),
                unread: Vec::new(),
            };
            for run in phrases.runs(buckets.get(&capture_id).unwrap_or(&none)) {
                let mut run = run.start.max(known)..run.end;
                if run.is_empty() || run == (known..known + 1) {
                    continue;
                }
                let end = run.end;
                while !run.is_empty() && map.bytes(run.clone()) > left {
                    run.end -= 1;
                }
                place.unread.extend(run.end..end);
                left -= map.bytes(run.clone());
                if !run.is_empty() {
                    place.runs.push(run);
                }
            }
            place
        });
        Ok(places.collect())
    }

    /// Reads buckets of the words of contents.
    pub(super) async fn load_buckets(
        &self,
        search: &Search<'_>,
        wanted: Vec<(CaptureId, Vec<usize>)>,
    ) -> Result<HashMap<CaptureId, Buckets>> {
        let mut by_capture: HashMap<CaptureId, Buckets> = HashMap::new();
        if wanted.is_empty() {
            return Ok(by_capture);
        }
        for bucket in self.store.load_terms(search.organization_id, wanted).await? {
            by_capture.entry(bucket.capture_id).or_default().insert(bucket.bucket, bucket.lists);
        }
        Ok(by_capture)
    }
}

/// Finds the phrases of each document as far as it is loaded: in the parts of its content, or in its other texts.
fn check(request: &SearchRequest, loaded: Vec<LoadedDocument>, stop: &Stop) -> Vec<(LoadedDocument, Occurrences)> {
    let mut phrases = Phrases::new(request.texts());
    let checked = loaded.into_iter().take_while(|_| !stop.is_stopped()).map(|loaded| {
        let LoadedDocument { document, capture, .. } = &loaded;
        let language = document.language.as_deref();
        let starts = capture.parts.as_ref().map(PartMap::start_bytes).unwrap_or_default();
        let mut found = phrases.find_in(&capture.content, &starts, language);
        if !found.any {
            let title = document.title.as_deref();
            let name = name_beside_title(&document.canonical_url, title);
            let others = [title, name.as_deref(), document.description.as_deref()];
            found.any = others.into_iter().flatten().any(|text| phrases.any_in(text, language));
        }
        (loaded, found)
    });
    checked.collect()
}

/// Returns the documents of the texts that contain a phrase, with the parts that contain a whole one.
fn check_texts(
    request: &SearchRequest,
    texts: Vec<(DocId, Joined, Option<String>)>,
    stop: &Stop,
) -> Vec<(DocId, Vec<usize>)> {
    let mut phrases = Phrases::new(request.texts());
    let texts = texts.into_iter().take_while(|_| !stop.is_stopped());
    let found = texts.filter_map(|(doc_id, run, language)| {
        let Occurrences { any, sections } = phrases.find_in(&run.text, &run.starts, language.as_deref());
        let parts = sections.into_iter().filter_map(|section| run.parts.get(section).copied());
        any.then(|| (doc_id, parts.collect()))
    });
    found.collect()
}

/// Joins the parts of each run.
fn joined(runs: &[Range<usize>], parts: Vec<LoadedPart>) -> Vec<Joined> {
    let mut joined: Vec<Joined> = runs.iter().map(|_| Joined::default()).collect();
    for part in parts {
        if let Some(position) = runs.iter().position(|run| run.contains(&part.part)) {
            let Joined { text, parts, starts } = &mut joined[position];
            parts.push(part.part);
            starts.push(text.len());
            text.push_str(&part.content);
        }
    }
    joined
}
