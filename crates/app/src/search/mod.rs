//! Search: retrieves candidates from each collection, ranks and blends them, and records the answer.

mod analyzers;
mod candidate;
mod exact;
pub(crate) mod generations;
mod hit;
pub mod providers;
mod quote;
mod rank;
mod reading;
pub(crate) mod record;
mod recorded;
mod retrieve;
mod scope;
pub(crate) mod second_stage;
pub(crate) mod semantic;
mod source_policy;
pub(crate) mod stage;
pub(crate) mod stored_terms;
pub(crate) mod unrecorded;
pub(crate) mod vectors;

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use admission::Stop;
use docstore::{Grant, LoadedDocument, SearchDetails};
pub use docstore::{Place, ResultDetails};
use engine::SearchEngine;
pub use engine::UnknownValues;
use futures_util::future::{self, Either, try_join_all};
use futures_util::stream::{FuturesUnordered, StreamExt};
use model::{Collection, DocId, Generation, IndexName, OrganizationId, ResearchId, SearchId, SessionId, Timestamp};
use retrieval_core::blend;
use retrieval_core::embeddings::QuantizedVector;
use retrieval_core::phrase::Phrases;
use retrieval_core::snippet::Snippets;
use tokio::sync::OnceCell;
use tokio::time::timeout_at;
use uuid::Uuid;

use crate::content_budget::steps;
use crate::error::Result;
use crate::{App, Charge, Deadline, Error, UseCase, Viewer};
use analyzers::with_analyzers;
use candidate::{Candidate, CandidateList};
pub use hit::{HitPassage, SearchHit};
pub use providers::UnavailableProvider;
pub use recorded::{RecordedResult, RecordedSearch};
use second_stage::Order;
pub use second_stage::SecondStage;
pub use source_policy::SourcePolicy;
use stage::Stage;

/// Time that a search waits for its record. What is queued then is written later.
const RECORD_TIMEOUT: Duration = Duration::from_secs(2);

/// Time that a search takes for its first results even if its deadline is over.
const LEAST_TIME: Duration = Duration::from_millis(500);
/// Time that a search with a deadline waits at least for the results of the other collection, and for its record.
const LEAST_OTHER_TIME: Duration = Duration::from_millis(50);
const LEAST_RECORD_TIME: Duration = Duration::from_millis(50);

/// Time before the deadline that is kept for loading documents: searches by meaning and of providers end earlier.
const LOAD_RESERVE: Duration = Duration::from_millis(100);

/// Maximum length of a request that is recorded as it was sent, in bytes.
const MAX_RECORDED_REQUEST: usize = 64 << 10;

/// A validated search. The caller shapes the answer by verbosity and budget when it serializes it.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    pub query: String,
    pub search_queries: Vec<String>,
    pub max_results: usize,
    /// Indexes to search; duplicates count once.
    pub indexes: Vec<IndexName>,
    /// As sent; must be the viewer's organization. Required if `indexes` contains the workspace.
    pub workspace_id: Option<OrganizationId>,
    pub language: Option<String>,
    pub country: Option<String>,
    pub exact_match: bool,
    /// Labels of which a result must have one. Empty: any result.
    pub labels: Vec<String>,
    pub session_id: SessionId,
    pub published_after: Option<Timestamp>,
    pub published_before: Option<Timestamp>,
    pub source_policy: SourcePolicy,
    /// Amount of text to prepare for each hit.
    pub detail: Detail,
    /// Maximum number of passages of each hit.
    pub passages_per_hit: usize,
    /// Time after which the remaining stages are skipped.
    pub deadline: Deadline,
    /// The request as it was sent, for its record.
    pub original: Option<String>,
}

impl SearchRequest {
    /// Returns the texts to search for: the rewrites if there are any, otherwise the query.
    fn texts(&self) -> Vec<&str> {
        let rewrites: Vec<&str> =
            self.search_queries.iter().map(String::as_str).filter(|text| !text.trim().is_empty()).collect();
        if rewrites.is_empty() { vec![&self.query] } else { rewrites }
    }
}

/// Amount of text that the answer shows; no more is computed.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Detail {
    Ids,
    Snippets,
    Passages,
}

/// A complete answer.
#[derive(Debug)]
pub struct SearchOutcome {
    pub search_id: SearchId,
    /// Price of the search, for a billed organization; refunded unless the caller keeps it.
    pub charge: Option<Charge>,
    /// Best first.
    pub hits: Vec<SearchHit>,
    pub ranker_version: String,
    /// Matching documents of the workspace; `None` if the workspace was not searched. Includes all that match by words, and is at
    /// least the number of `hits` of the workspace, which may have been found by meaning only.
    pub workspace_total: Option<u64>,
    pub rerank_unavailable: bool,
    /// Results that `source_policy` removed.
    pub filtered_results: usize,
    /// Matching documents that the filters removed only for lack of a value.
    pub unknown_values: UnknownValues,
    /// Searched indexes without documents. Empty if there are hits.
    pub empty_indexes: Vec<IndexName>,
    /// Web search providers whose results are missing.
    pub unavailable_providers: Vec<UnavailableProvider>,
    /// True if the results are those of words alone, since the model or the index of the semantic leg failed or was late.
    pub semantic_unavailable: bool,
    /// True if a stage was skipped for lack of time.
    pub degraded: bool,
    /// Bytes of stored contents that were read.
    pub read_bytes: usize,
}

/// A search in progress.
struct Search<'a> {
    organization_id: OrganizationId,
    request: &'a Arc<SearchRequest>,
    read_bytes: AtomicUsize,
    degraded: AtomicBool,
    unavailable_providers: Mutex<Vec<UnavailableProvider>>,
    /// Vector of the query; `None` if there is none.
    vector: OnceCell<Option<Arc<QuantizedVector>>>,
    lacks_semantic: AtomicBool,
    /// True if cached documents need not be looked up while the index is unchanged.
    trusts_cache: AtomicBool,
    /// True if there were such documents.
    has_trusted_cache: AtomicBool,
}

impl Search<'_> {
    /// Counts contents that were read.
    fn count_read(&self, bytes: impl Iterator<Item = usize>) {
        self.read_bytes.fetch_add(bytes.sum(), Ordering::Relaxed);
    }

    /// Counts the contents of documents that were read. Returns the documents by id.
    fn read(&self, loaded: Vec<LoadedDocument>) -> HashMap<DocId, LoadedDocument> {
        self.count_read(loaded.iter().map(|loaded| loaded.capture.content.len()));
        loaded.into_iter().map(|loaded| (loaded.document.doc_id, loaded)).collect()
    }

    fn read_bytes(&self) -> usize {
        self.read_bytes.load(Ordering::Relaxed)
    }

    /// Returns true if the next stage is to be skipped.
    fn is_out_of_time(&self) -> bool {
        let is_over = self.request.deadline.is_over();
        if is_over {
            self.degrade();
        }
        is_over
    }

    fn degrade(&self) {
        self.degraded.store(true, Ordering::Relaxed);
    }

    /// Repeats a stage for more results. The search goes on with those that it has, `None`, if the time for it ends or a backend is
    /// unavailable meanwhile.
    async fn repeat<T>(&self, stage: impl Future<Output = Result<T>>) -> Result<Option<T>> {
        match self.request.deadline.earlier(LOAD_RESERVE).within(stage).await {
            Some(Err(Error::Unavailable { backend, source })) => {
                tracing::warn!(backend, error = &*source as &dyn std::error::Error, "no more results are searched for");
            }
            Some(done) => return done.map(Some),
            None => {}
        }
        self.degrade();
        Ok(None)
    }

    /// Records that the semantic leg is missing.
    fn lack_semantic(&self) {
        self.lacks_semantic.store(true, Ordering::Relaxed);
    }

    /// Records a provider whose results are missing.
    fn lack_provider(&self, name: &'static str, reason: &'static str) {
        let provider = UnavailableProvider { name, reason };
        self.unavailable_providers.lock().unwrap_or_else(PoisonError::into_inner).push(provider);
    }
}

/// The best documents of a search that is not recorded yet.
struct Found {
    best: Vec<Candidate>,
    order: Order,
    generations: Vec<(IndexName, Generation)>,
    /// Documents of the workspace that match by words; `None` if the workspace was not searched.
    workspace_total: Option<u64>,
    filtered_results: usize,
    unknown_values: UnknownValues,
    /// Searched indexes without documents.
    empty_indexes: Vec<IndexName>,
}

impl App {
    /// Searches. A billed search is refunded if it fails through no fault of the caller, or if the outcome's charge is dropped.
    pub fn search<'a>(&'a self, viewer: &'a Viewer, request: SearchRequest) -> UseCase<'a, SearchOutcome> {
        self.search_within(viewer, request, None)
    }

    /// Searches like [`App::search`] as a part of a research run, which the ledger then names.
    pub fn search_within<'a>(
        &'a self,
        viewer: &'a Viewer,
        request: SearchRequest,
        research_id: Option<ResearchId>,
    ) -> UseCase<'a, SearchOutcome> {
        Box::pin(self.charged_search(viewer, request, research_id))
    }

    async fn charged_search(
        &self,
        viewer: &Viewer,
        request: SearchRequest,
        research_id: Option<ResearchId>,
    ) -> Result<SearchOutcome> {
        let collections = self.searched_collections(viewer, &request)?;
        let engine = self.engine.clone();
        let search_id = SearchId(Uuid::now_v7());
        let request = Arc::new(request);
        let search = Search {
            organization_id: viewer.organization_id,
            request: &request,
            read_bytes: AtomicUsize::new(0),
            degraded: AtomicBool::new(false),
            unavailable_providers: Mutex::default(),
            vector: OnceCell::new(),
            lacks_semantic: AtomicBool::new(false),
            // Otherwise a removed document would cost a second search of the providers.
            trusts_cache: AtomicBool::new(self.web.is_empty()),
            has_trusted_cache: AtomicBool::new(false),
        };
        let paying = self.charge_search(viewer, search_id, research_id);
        let finding = self.find(engine.as_deref(), &search, &collections);
        let (charge, found) = match self.is_solvent(viewer) && !self.asks_others() {
            true => paid_meanwhile(paying, finding).await?,
            false => (paying.await?, finding.await),
        };
        let answered = match found {
            Ok(found) => self.answer_search(viewer, search, search_id, found).await,
            Err(error) => Err(error),
        };
        match answered {
            Ok(outcome) => Ok(SearchOutcome { charge, ..outcome }),
            Err(error) => {
                match charge {
                    Some(charge) if error.is_server_fault() => charge.refund().await,
                    Some(charge) => charge.keep(),
                    None => {}
                }
                Err(error)
            }
        }
    }

    /// Returns true if searches ask services that may cost the operator money.
    fn asks_others(&self) -> bool {
        !self.web.is_empty() || self.second_stage.reads_texts() || self.semantic.is_some()
    }

    /// Finds the best documents and their best passages, and loads them: the record names what the answer shows.
    async fn find(
        &self,
        engine: Option<&dyn SearchEngine>,
        search: &Search<'_>,
        collections: &[Collection],
    ) -> Result<Found> {
        let (mut found, removed) = self.find_and_load_best(engine, search, collections).await?;
        // Others take the places of documents that were removed since the index last changed.
        if removed > 0 && search.has_trusted_cache.load(Ordering::Relaxed) {
            search.trusts_cache.store(false, Ordering::Relaxed);
            let again = self.find_and_load_best(engine, search, collections);
            if let Some((again, _)) = search.repeat(again).await? {
                found = again;
            }
        }
        if search.request.detail > Detail::Ids {
            // Those that a model read have theirs.
            let is_open = |candidate: &Candidate| candidate.nearest.is_empty();
            Stage::Passages.try_measure(self.choose_passages(search, &mut found.best, is_open)).await?;
        }
        Ok(found)
    }

    /// Finds the best documents, and loads them. Returns the number of those that are no longer stored, which are left out.
    async fn find_and_load_best(
        &self,
        engine: Option<&dyn SearchEngine>,
        search: &Search<'_>,
        collections: &[Collection],
    ) -> Result<(Found, usize)> {
        let mut found = self.find_best(engine, search, collections).await?;
        let removed = Stage::Load.try_measure(self.load_best(search, &mut found.best)).await?;
        Ok((found, removed))
    }

    /// Finds the best documents, by cached terms as far as there are any.
    async fn find_best(
        &self,
        engine: Option<&dyn SearchEngine>,
        search: &Search<'_>,
        collections: &[Collection],
    ) -> Result<Found> {
        let mut watch = Stopwatch::start();
        let indexes = collections.iter().map(|collection| collection.index());
        let (lists, generations) = futures_util::join!(
            self.retrieve_all(engine, search, collections),
            self.generations.of(engine, indexes, self.clock.now()),
        );
        let lists = lists?;
        let retrieved = watch.lap();
        let workspace_total = lists.iter().find(|list| list.collection != Collection::Web).map(|list| list.total);
        let filtered_results = lists.iter().map(|list| list.filtered).sum();
        let mut unknown_values = UnknownValues::default();
        lists.iter().for_each(|list| unknown_values += list.unknown_values);
        let is_empty = |list: &&CandidateList| list.is_indexed && list.statistics.documents == 0;
        let empty_indexes = lists.iter().filter(is_empty).map(|list| list.collection.index()).collect();
        let (mut best, order) = self.rank(search, lists).await?;
        self.store_snippets(search, &mut best).await;
        tracing::debug!(?retrieved, ranked = ?watch.lap(), read_bytes = search.read_bytes(), "found");
        Ok(Found { best, order, generations, workspace_total, filtered_results, unknown_values, empty_indexes })
    }

    /// Records the search and builds its hits.
    async fn answer_search(
        &self,
        viewer: &Viewer,
        search: Search<'_>,
        search_id: SearchId,
        found: Found,
    ) -> Result<SearchOutcome> {
        let Found { best, order, generations, mut empty_indexes, .. } = found;
        // The last stage that may be skipped. Decided here, so that the record tells it.
        let quotes_parts = quote::needs_parts(&search, &best) && !search.is_out_of_time();
        let degraded = search.degraded.load(Ordering::Relaxed);
        let details = SearchDetails {
            ranker_version: order.ranker_version.clone(),
            generations,
            degraded,
            results: best.iter().map(Candidate::details).collect(),
        };
        let hits = self.build_and_record(viewer, &search, search_id, best, quotes_parts, details).await?;
        if !hits.is_empty() {
            empty_indexes.clear();
        }
        let shown = hits.iter().filter(|hit| hit.collection != Collection::Web).count() as u64;
        Ok(SearchOutcome {
            search_id,
            charge: None,
            hits,
            ranker_version: order.ranker_version,
            workspace_total: found.workspace_total.map(|total| total.max(shown)),
            rerank_unavailable: order.unavailable,
            filtered_results: found.filtered_results,
            unknown_values: found.unknown_values,
            empty_indexes,
            read_bytes: search.read_bytes(),
            semantic_unavailable: search.lacks_semantic.load(Ordering::Relaxed),
            degraded,
            unavailable_providers: search.unavailable_providers.into_inner().unwrap_or_else(PoisonError::into_inner),
        })
    }

    /// Returns the candidates of each collection. When the time is over, those of the collections that are done, at least of
    /// one.
    async fn retrieve_all(
        &self,
        engine: Option<&dyn SearchEngine>,
        search: &Search<'_>,
        collections: &[Collection],
    ) -> Result<Vec<CandidateList>> {
        let deadline = search.request.deadline;
        let is_only = collections.len() == 1;
        let retrieving = collections.iter().map(async |collection| match (collection, engine) {
            (Collection::Web, _) => self.retrieve_web(engine, search, is_only).await,
            (Collection::Workspace(_), Some(engine)) => self.retrieve(engine, search, *collection).await,
            (Collection::Workspace(_), None) => Err(Error::NoRetrieval),
        });
        let Some(left) = deadline.left() else { return try_join_all(retrieving).await };
        let mut retrieving: FuturesUnordered<_> = retrieving.collect();
        let mut lists = Vec::with_capacity(collections.len());
        // Without these results there is no answer, so they may still be loaded when the deadline is over.
        let first = tokio::time::timeout(left.saturating_add(LEAST_TIME), retrieving.next()).await;
        let late =
            |elapsed: tokio::time::error::Elapsed| Error::Unavailable { backend: "search", source: elapsed.into() };
        lists.extend(first.map_err(late)?.transpose()?);
        let until_others = deadline.leaving(LEAST_OTHER_TIME);
        while !retrieving.is_empty() {
            match until_others.within(retrieving.next()).await {
                Some(next) => lists.extend(next.transpose()?),
                None => {
                    search.degrade();
                    break;
                }
            }
        }
        // The web first, in whatever order they ended.
        lists.sort_by_key(|list| list.collection != Collection::Web);
        Ok(lists)
    }

    /// Computes for a search when it is the organization's turn.
    async fn compute<T: Send + 'static>(
        &self,
        search: &Search<'_>,
        work: impl FnOnce(&Stop) -> T + Send + 'static,
    ) -> Result<T> {
        self.contents.compute(search.organization_id, search.read_bytes(), work).await
    }

    /// Ranks the candidates and blends the best of each collection into one list.
    async fn rank(&self, search: &Search<'_>, mut lists: Vec<CandidateList>) -> Result<(Vec<Candidate>, Order)> {
        let request = search.request;
        let ranking = self.compute(search, {
            let request = Arc::clone(request);
            let now = self.clock.now();
            move |stop: &Stop| {
                rank::rank(&request.query, &mut lists, now, stop);
                lists
            }
        });
        let mut lists = Stage::Rank.try_measure(ranking).await?;
        if self.second_stage.reads_texts() {
            for list in &mut lists {
                // The model would give the same text the same score.
                list.drop_copies(&request.source_policy);
                list.sort_by_preference(&request.source_policy);
            }
            let choosing = lists.iter_mut().map(|list| {
                let count = list.count_for_model(request.max_results);
                self.choose_passages(search, &mut list.candidates[..count], rank::is_cut_for_model)
            });
            Stage::Passages.try_measure(try_join_all(choosing)).await?;
        }
        let ordering = self.second_stage.order(request, &mut lists, &self.rerank_failures);
        let order = match self.second_stage.reads_texts() {
            true => Stage::Rerank.measure(ordering).await,
            false => ordering.await,
        };
        if order.skipped {
            search.degrade();
        }
        let best = lists.into_iter().map(|list| list.best(&request.source_policy, request.max_results));
        // Between equals the organization's own document comes first.
        let best = best
            .reduce(|web, workspace| blend::by_score(workspace, web, request.max_results, |candidate| candidate.score));
        Ok((best.unwrap_or_default(), order))
    }

    /// Stores the ranked list while the texts of its hits are read; see [`App::read_quotes`] for `quotes_parts`.
    async fn build_and_record(
        &self,
        viewer: &Viewer,
        search: &Search<'_>,
        search_id: SearchId,
        best: Vec<Candidate>,
        quotes_parts: bool,
        details: SearchDetails,
    ) -> Result<Vec<SearchHit>> {
        let doc_ids: Vec<DocId> = best.iter().map(|candidate| candidate.document.doc_id()).collect();
        let recording = self.record_search(viewer, search.request, search_id, doc_ids, details);
        let building = async {
            let (sources, _memory) = self.read_quotes(search, best, quotes_parts).await?;
            let mut hits = Vec::with_capacity(sources.len());
            for step in steps(sources.into_iter().zip(1..), |(source, _)| source.excerpt.content().len()) {
                let request = Arc::clone(search.request);
                let building = self.compute(search, move |stop| {
                    with_analyzers(|analyzers| {
                        let mut snippets = Snippets::new(&request.query, analyzers);
                        let mut phrases = request.exact_match.then(|| Phrases::new(request.texts()));
                        let step = step.into_iter().take_while(|_| !stop.is_stopped());
                        let hits = step
                            .map(|(source, rank)| hit::hit(&request, rank, source, &mut snippets, phrases.as_mut()));
                        hits.collect::<Vec<SearchHit>>()
                    })
                });
                hits.extend(building.await?);
            }
            Ok(hits)
        };
        let (hits, ()) = futures_util::join!(Stage::Quote.try_measure(building), Stage::Record.measure(recording));
        hits
    }

    /// Stores the ranked list and grants its documents. Runs before the answer, so that the caller can read them by
    /// `doc_id` at once. A database that cannot be written does not fail the search: this process then remembers the grants.
    async fn record_search(
        &self,
        viewer: &Viewer,
        request: &SearchRequest,
        search_id: SearchId,
        doc_ids: Vec<DocId>,
        details: SearchDetails,
    ) {
        let now = self.clock.now();
        let organization_id = viewer.organization_id;
        let grant = |(doc_id, result): (&DocId, &ResultDetails)| Grant {
            organization_id,
            doc_id: *doc_id,
            granted_at: now,
            capture_id: Some(result.capture_id),
        };
        let granted: Vec<Grant> = doc_ids.iter().zip(&details.results).map(grant).collect();
        // Large requests must not fill what is left of the disk.
        let is_kept = |text: &String| text.len() <= MAX_RECORDED_REQUEST && !self.free_space.is_low();
        let row = docstore::Search {
            search_id,
            organization_id,
            identity: viewer.identity.rate_key(),
            session_id: request.session_id,
            query: request.query.clone(),
            results: doc_ids,
            created_at: now,
            request: request.original.clone().filter(is_kept),
            details: Some(details),
        };
        let time = request.deadline.left().map_or(RECORD_TIMEOUT, |left| left.clamp(LEAST_RECORD_TIME, RECORD_TIMEOUT));
        let until = tokio::time::Instant::now() + time;
        let recorded = match timeout_at(until, self.searches.queue((row, granted.clone()))).await {
            Ok(Ok(reply)) => timeout_at(until, reply.written()).await.map_err(|_| "the search is not recorded yet"),
            Ok(Err(error)) => Ok(Err(error)),
            Err(_) => Err("the search was not recorded: too many others wait for the database"),
        };
        match recorded {
            Ok(Ok(())) => return,
            Ok(Err(error)) => {
                tracing::warn!(%search_id, error = &error as &dyn std::error::Error, "the search was not recorded");
            }
            Err(why) => tracing::warn!(%search_id, "{why}"),
        }
        metrics::counter!("retrieval_searches_unrecorded_total").increment(1);
        self.unrecorded_grants.remember(&granted);
    }
}

/// Searches while the ledger stores the charge. A search that cannot be charged ends at its next step.
async fn paid_meanwhile<T>(
    paying: impl Future<Output = Result<Option<Charge>>>,
    finding: impl Future<Output = Result<T>>,
) -> Result<(Option<Charge>, Result<T>)> {
    match future::select(pin!(paying), pin!(finding)).await {
        Either::Left((charge, finding)) => Ok((charge?, finding.await)),
        Either::Right((found, paying)) => Ok((paying.await?, found)),
    }
}

/// Times the steps of a search for the log.
struct Stopwatch(Instant);

impl Stopwatch {
    fn start() -> Self {
        Self(Instant::now())
    }

    /// Returns the time since the last lap.
    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.0, now)
    }
}
