//! First stage: the candidates of one collection, with the source policy applied.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use admission::{Permit, Stop};
use docstore::{LoadedDocument, LoadedPart, WantedParts};
use engine::indexing;
use engine::{Filters, FirstStageRequest, FirstStageResponse, Hit, SearchEngine};
use file_types::label;
use model::{CaptureId, Collection, DocId};
use retrieval_core::site::Site;

use super::candidate::{Candidate, CandidateList, Trace, place};
use super::exact::PhraseParts;
use super::reading::Reading;
use super::semantic::Nearest;
use super::stage::Stage;
use super::stored_terms::{CachedTerms, StoredTerms};
use super::vectors::{self, Confirmation, RankedDocument, VectorCache, bytes_to_read, content_bytes};
use super::{Search, SearchRequest, SourcePolicy};
use crate::content_budget::steps;
use crate::error::Result;
use crate::{App, Error};

/// Maximum number of documents requested of an engine because others are no results.
const MAX_DEPTH: usize = 1_000;

/// Factor by which more documents are requested then.
const DEEPER: usize = 5;

impl App {
    /// Returns the candidates of one collection.
    ///
    /// The first documents of the engine may be copies of one text, or may be dropped: by the source policy, or since they contain the
    /// words of an exact match apart. Further ones are requested until there are enough results, as far as the time allows.
    pub(super) async fn retrieve(
        &self,
        engine: &dyn SearchEngine,
        search: &Search<'_>,
        collection: Collection,
    ) -> Result<CandidateList> {
        let max_results = search.request.max_results;
        let mut limit = engine.candidate_limit(max_results);
        let (mut list, mut has_more) = self.retrieve_first(engine, search, collection, limit).await?;
        let regular = list.candidates.len();
        while has_more && limit < MAX_DEPTH && list.count_distinct() < max_results {
            limit = (limit * DEEPER).min(MAX_DEPTH);
            let deeper = self.retrieve_first(engine, search, collection, limit);
            let Some(deeper) = search.repeat(deeper).await? else { break };
            (list, has_more) = deeper;
        }
        list.regular = regular;
        Ok(list)
    }

    /// Returns the candidates among the first `limit` documents of the engine, and whether it may have more.
    async fn retrieve_first(
        &self,
        engine: &dyn SearchEngine,
        search: &Search<'_>,
        collection: Collection,
        limit: usize,
    ) -> Result<(CandidateList, bool)> {
        let request = search.request;
        let policy = &request.source_policy;
        let base = FirstStageRequest {
            collection,
            texts: request.texts().into_iter().map(str::to_owned).collect(),
            exact_phrase: request.exact_match,
            rerank_text: Some(request.query.clone()),
            filters: filters(request, collection),
            limit,
        };
        let admitted = || with_policy(&base, policy).filters;
        let finding_nearest = async {
            match collection == Collection::Web && policy.admits_nothing() {
                true => Nearest::default(),
                false => self.nearest(engine, search, &base, admitted).await,
            }
        };
        let (lexical, nearest) = futures_util::join!(self.search_words(engine, search, &base), finding_nearest);
        let (mut answer, filtered) = lexical?;
        let has_more = answer.hits.len() >= limit || nearest.has_more();
        nearest.extend(&mut answer.hits);
        let loading = self.load(engine, search, answer, collection, &nearest);
        let mut list = Stage::Load.try_measure(loading).await?;
        list.filtered += filtered;
        Ok((list, has_more))
    }

    /// Returns the documents with the words of the query, and the number of results that the source policy removed.
    async fn search_words(
        &self,
        engine: &dyn SearchEngine,
        search: &Search<'_>,
        base: &FirstStageRequest,
    ) -> Result<(FirstStageResponse, usize)> {
        let policy = &search.request.source_policy;
        if base.collection != Collection::Web {
            return Ok((self.ask(engine, base).await?, 0));
        }
        if policy.admits_nothing() {
            let mut unfiltered = self.ask(engine, base).await?;
            let filtered = unfiltered.hits.len().min(search.request.max_results);
            unfiltered = FirstStageResponse { statistics: unfiltered.statistics, ..FirstStageResponse::default() };
            return Ok((unfiltered, filtered));
        }
        if policy.drops() {
            let kept = with_policy(base, policy);
            let (kept, unfiltered) = futures_util::try_join!(self.ask(engine, &kept), self.ask(engine, base))?;
            let filtered = count_dropped(&unfiltered, &kept, search.request.max_results);
            return Ok((self.with_preferred(engine, search, base, kept, policy).await?, filtered));
        }
        let answer = self.ask(engine, base).await?;
        Ok((self.with_preferred(engine, search, base, answer, policy).await?, 0))
    }

    /// Adds documents of preferred domains, which are candidates even if others match better.
    async fn with_preferred(
        &self,
        engine: &dyn SearchEngine,
        search: &Search<'_>,
        base: &FirstStageRequest,
        mut answer: FirstStageResponse,
        policy: &SourcePolicy,
    ) -> Result<FirstStageResponse> {
        if !policy.has_preference() || search.is_out_of_time() {
            return Ok(answer);
        }
        let preferred = self.ask(engine, &with_domains(base, &policy.include_domains, &policy.exclude_domains)).await?;
        let known: HashSet<DocId> = answer.hits.iter().map(|hit| hit.doc_id).collect();
        answer.hits.extend(preferred.hits.into_iter().filter(|hit| !known.contains(&hit.doc_id)));
        Ok(answer)
    }

    async fn ask(&self, engine: &dyn SearchEngine, request: &FirstStageRequest) -> Result<FirstStageResponse> {
        let asking = async {
            match tokio::time::timeout(self.options.engine_timeout, engine.first_stage(request)).await {
                Ok(answer) => Ok(answer?),
                Err(elapsed) => Err(Error::Unavailable { backend: "search", source: elapsed.into() }),
            }
        };
        Stage::Words.try_measure(asking).await
    }

    /// Looks up the terms of the engine's hits, in the cache or in the docstore; documents without stored terms are read and
    /// analysed. The docstore decides: hits that it does not return (just deleted, or another tenant's) are dropped, whatever
    /// the index says.
    async fn load(
        &self,
        engine: &dyn SearchEngine,
        search: &Search<'_>,
        mut answer: FirstStageResponse,
        collection: Collection,
        nearest: &Nearest,
    ) -> Result<CandidateList> {
        let request = search.request;
        let doc_ids: Vec<DocId> = answer.hits.iter().map(|hit| hit.doc_id).collect();
        let confirmation = answer.snapshot.map(|snapshot| Confirmation { collection, snapshot });
        // Phrase matching and models need the text.
        let (CachedTerms { mut known, uncached }, mut unknown) =
            match request.exact_match || self.second_stage.reads_texts() {
                true => (CachedTerms::default(), doc_ids),
                false => (self.find_cached_terms(search, collection, doc_ids, confirmation).await?, Vec::new()),
            };
        let StoredTerms { ranked, missing } = self.load_stored_terms(search, collection, uncached).await?;
        if let Some(confirmation) = confirmation {
            ranked.values().for_each(|document| self.vectors.confirm(document, confirmation));
        }
        known.extend(ranked);
        unknown.extend(missing.iter().copied());
        let mut loaded = self.load_by_id(search, collection, unknown).await?;
        // Those that were found by meaning alone have no score.
        let by_words = answer.hits.iter().filter(|hit| hit.score > 0.0).map(|hit| hit.doc_id).collect();
        let lengths = known.iter().map(|(doc_id, document)| (*doc_id, document.terms.content_bytes()));
        let of_loaded = loaded.iter().map(|(doc_id, loaded)| (*doc_id, content_bytes(loaded)));
        let reading = Reading::of(by_words, lengths.chain(of_loaded));
        // An earlier search may have read less of a long document than this one needs.
        let short = known.iter().filter(|(doc_id, document)| !document.terms.covers(reading.limit(**doc_id)));
        let short: Vec<DocId> = short.map(|(doc_id, _)| *doc_id).collect();
        for (doc_id, document) in self.load_by_id(search, collection, short).await? {
            known.remove(&doc_id);
            loaded.insert(doc_id, document);
        }
        let ranked = self.find_ranked(&loaded, &reading);
        let _memory = self.load_beginnings(search, &mut loaded, &ranked, &reading).await?;
        let mut phrase_parts = PhraseParts::new();
        if request.exact_match {
            let checked = loaded.len();
            (loaded, phrase_parts) = self.keep_exact(search, loaded, &answer.hits, engine.verifies_phrases()).await?;
            // The engine may count documents that contain the words apart.
            answer.total = answer.total.saturating_sub((checked - loaded.len()) as u64);
        }
        let mut loaded = self.analyse(search, loaded, ranked, &reading).await?;
        for (document, loaded) in missing.iter().filter_map(|doc_id| loaded.get(doc_id)) {
            self.term_writer.offer(document, loaded);
        }
        let policy = Some(&request.source_policy).filter(|_| collection == Collection::Web);
        let cosines = nearest.by_id();
        let (mut kept, mut filtered) = (0, 0);
        let candidates = answer.hits.iter().enumerate().filter_map(|(position, Hit { doc_id, score })| {
            let (document, loaded) = match known.remove(doc_id) {
                Some(document) => (document, None),
                None => loaded.remove(doc_id).map(|(document, loaded)| (document, Some(loaded)))?,
            };
            // Engines compare only the beginning of long paths.
            if policy.is_some_and(|policy| !policy.admits(&document)) {
                filtered += usize::from(kept < request.max_results);
                return None;
            }
            kept += 1;
            let near = cosines.get(doc_id).copied();
            Some(Candidate {
                document,
                loaded,
                collection,
                position,
                first_stage_score: *score,
                score: 0.0,
                meaning: 0.0,
                passages: Vec::new(),
                is_match: false,
                nearest: Vec::new(),
                phrase_parts: phrase_parts.remove(doc_id).unwrap_or_default(),
                complete: false,
                trace: Trace {
                    semantic: near.map(|(position, cosine)| place(position, f64::from(cosine))),
                    ..Trace::default()
                },
                is_new_snippet: false,
                provider_rank: None,
            })
        });
        let candidates: Vec<Candidate> = candidates.collect();
        let documents = answer.statistics.documents;
        Ok(CandidateList {
            collection,
            candidates,
            documents,
            statistics: answer.statistics,
            total: answer.total,
            unknown_values: answer.unknown_values,
            filtered,
            is_indexed: true,
            semantic: nearest.list(documents, answer.total),
            regular: 0,
        })
    }

    /// Analyses documents as far as a search reads them, and caches their terms. Those that are `ranked` have theirs.
    pub(super) async fn analyse(
        &self,
        search: &Search<'_>,
        loaded: HashMap<DocId, LoadedDocument>,
        mut ranked: HashMap<DocId, Arc<RankedDocument>>,
        reading: &Reading,
    ) -> Result<HashMap<DocId, Analysed>> {
        let mut analysed = HashMap::with_capacity(loaded.len());
        let mut unknown = Vec::new();
        for (doc_id, document) in loaded {
            match ranked.remove(&doc_id) {
                Some(ranked) => drop(analysed.insert(doc_id, (ranked, Box::new(document)))),
                None => unknown.push((reading.limit(doc_id), document)),
            }
        }
        for step in steps(unknown, |(_, loaded)| loaded.capture.content.len()) {
            let vectors = self.vectors.clone();
            let done = self.compute(search, move |stop| analyse(step, &vectors, stop));
            analysed.extend(done.await?);
        }
        Ok(analysed)
    }

    /// Finds the cached terms of documents that were loaded for their texts, unless a model reads more of them. A search asks once for
    /// each document: the cache changes meanwhile, and what is not read of a content cannot be analysed.
    pub(super) fn find_ranked(
        &self,
        loaded: &HashMap<DocId, LoadedDocument>,
        reading: &Reading,
    ) -> HashMap<DocId, Arc<RankedDocument>> {
        if self.second_stage.reads_texts() {
            return HashMap::new();
        }
        let known = loaded.values().filter_map(|loaded| self.vectors.get(&vectors::state(loaded)));
        let covered = known.filter(|known| known.terms.covers(reading.limit(known.doc_id())));
        covered.map(|known| (known.doc_id(), known)).collect()
    }

    /// Reads documents of one collection, and the first parts of their contents.
    pub(super) async fn load_by_id(
        &self,
        search: &Search<'_>,
        collection: Collection,
        doc_ids: Vec<DocId>,
    ) -> Result<HashMap<DocId, LoadedDocument>> {
        if doc_ids.is_empty() {
            return Ok(HashMap::new());
        }
        Ok(search.read(self.store.load_documents(collection, doc_ids).await?))
    }

    /// Extends long contents to the beginning that a search reads, unless they are `ranked`. Returns a permit for them and for the check
    /// of an exact match.
    pub(super) async fn load_beginnings(
        &self,
        search: &Search<'_>,
        loaded: &mut HashMap<DocId, LoadedDocument>,
        ranked: &HashMap<DocId, Arc<RankedDocument>>,
        reading: &Reading,
    ) -> Result<Option<Permit>> {
        let mut wanted = Vec::new();
        let mut bytes = 0;
        let mut has_more = false;
        for document in loaded.values() {
            let capture = &document.capture;
            let Some(map) = &capture.parts else { continue };
            // An exact match has the same budget whatever earlier searches have ranked.
            let doc_id = document.document.doc_id;
            let is_ranked = !search.request.exact_match && ranked.contains_key(&doc_id);
            let parts = 1..if is_ranked { 1 } else { map.first_parts(bytes_to_read(reading.limit(doc_id))) };
            has_more |= parts.end < map.count();
            if !parts.is_empty() {
                bytes += map.bytes(parts.clone());
                wanted.push(WantedParts { capture_id: capture.capture_id, parts: parts.collect() });
            }
        }
        let to_check = if search.request.exact_match && has_more { self.options.read_limits.search_bytes } else { 0 };
        let reserved = bytes + to_check;
        if reserved == 0 {
            return Ok(None);
        }
        let permit = self.contents.reserve(search.organization_id, reserved).await;
        if wanted.is_empty() {
            return Ok(Some(permit));
        }
        let mut parts = self.load_parts_of(search, wanted).await?;
        for loaded in loaded.values_mut() {
            for part in parts.remove(&loaded.capture.capture_id).unwrap_or_default() {
                loaded.capture.content.push_str(&part.content);
                loaded.passages.extend(part.passages);
            }
        }
        Ok(Some(permit))
    }

    /// Reads parts of contents, in order; none of contents that were replaced meanwhile.
    pub(super) async fn load_parts_of(
        &self,
        search: &Search<'_>,
        wanted: Vec<WantedParts>,
    ) -> Result<HashMap<CaptureId, Vec<LoadedPart>>> {
        let mut by_capture: HashMap<CaptureId, Vec<LoadedPart>> = HashMap::new();
        if wanted.is_empty() {
            return Ok(by_capture);
        }
        let loaded = self.load_parts(search.organization_id, wanted).await?;
        search.count_read(loaded.iter().map(|part| part.content.len()));
        for part in loaded {
            by_capture.entry(part.capture_id).or_default().push(part);
        }
        by_capture.values_mut().for_each(|parts| parts.sort_unstable_by_key(|part| part.part));
        Ok(by_capture)
    }
}

pub(super) type Analysed = (Arc<RankedDocument>, Box<LoadedDocument>);

/// Analyses each document for a search that ranks by this many bytes of it.
fn analyse(loaded: Vec<(usize, LoadedDocument)>, vectors: &VectorCache, stop: &Stop) -> Vec<(DocId, Analysed)> {
    let loaded = loaded.into_iter().take_while(|_| !stop.is_stopped());
    let analysed = loaded.map(|(limit, loaded)| {
        let document = Arc::new(RankedDocument::of(&loaded, limit));
        vectors.put(&document);
        (loaded.document.doc_id, (document, Box::new(loaded)))
    });
    analysed.collect()
}

fn filters(request: &SearchRequest, collection: Collection) -> Filters {
    Filters {
        language: request.language.clone(),
        // Countries are markets of web pages; files have none.
        country: request.country.clone().filter(|_| collection == Collection::Web),
        published_after: request.published_after,
        published_before: request.published_before,
        // Pages have none in the index, so a search for labels finds files only.
        labels: request.labels.iter().map(|text| label::fold(text)).collect(),
        include_domains: Vec::new(),
        exclude_domains: Vec::new(),
    }
}

/// Adds the conditions of a policy that remove results. Preferred domains only raise them.
fn with_policy(base: &FirstStageRequest, policy: &SourcePolicy) -> FirstStageRequest {
    let is_web = base.collection == Collection::Web;
    let required: &[Site] = if is_web && policy.require_domain_match { &policy.include_domains } else { &[] };
    with_domains(base, required, if is_web { &policy.exclude_domains } else { &[] })
}

fn with_domains(base: &FirstStageRequest, include: &[Site], exclude: &[Site]) -> FirstStageRequest {
    let mut request = base.clone();
    request.filters.include_domains = include.iter().map(Site::to_string).collect();
    // An engine that compares only the beginning of a path would exclude too much.
    let exclude = exclude.iter().map(Site::to_string).filter(|site| indexing::Site::of(site).is_exact);
    request.filters.exclude_domains = exclude.collect();
    request
}

/// Counts the results that the policy removed before `max_results` were kept: the filtered ranking is the unfiltered one
/// without the removed results.
fn count_dropped(unfiltered: &FirstStageResponse, kept: &FirstStageResponse, max_results: usize) -> usize {
    let kept: HashSet<DocId> = kept.hits.iter().map(|hit| hit.doc_id).collect();
    let mut dropped = 0;
    let mut taken = 0;
    for hit in &unfiltered.hits {
        if taken == max_results {
            break;
        }
        if kept.contains(&hit.doc_id) { taken += 1 } else { dropped += 1 }
    }
    dropped
}
