#![doc = include_str!("../README.md")]

pub mod accounts;
pub mod api_keys;
pub mod audit;
pub mod authentication;
mod backlog;
mod batches;
mod billing;
pub mod citations;
mod content_budget;
mod cursor;
mod deadline;
pub mod disk;
pub mod documents;
pub mod error;
mod excerpt;
pub mod feedback;
pub mod files;
mod keys;
pub mod me;
pub mod readiness;
pub mod refunds;
pub mod removal;
mod retention;
pub mod search;
mod shared_task;
mod shares;
pub mod usage;
pub mod viewer;
pub mod web;
pub mod web_index;
pub mod webhooks;

pub use billing::Charge;
pub use content_budget::ReadLimits;
pub use deadline::Deadline;
pub use error::{Error, Quota, Result};
pub use ingest::{clock, leases, supervisor};
pub use retention::Retention;
pub use shares::{ShareLimits, Work};
pub use viewer::{Identity, Viewer};

use std::sync::Arc;
use std::time::Duration;

use ::webhooks::Sender;
use authentication::TokenVerifier;
use blobs::BlobStore;
use content_budget::ContentBudget;
use disk::FreeSpace;
use docstore::Docstore;
use documents::CaptureLifetimes;
use engine::SearchEngine;
use futures_util::future::BoxFuture;
use ingest::{Feeder, PageReader, Runner, Supervisor};
use metrics::gauge;
use model::Clock;
use models::embedding::Embedder;
use rate_limit::RateLimiter;
use readiness::{HostCheck, WriteProbe};
use search::SecondStage;
use search::providers::WebSources;
use tokio::runtime::Handle;

/// Use case that starts when it is first awaited. Boxed, so that it is compiled in this crate: the future of an `async fn` is compiled
/// by each crate that awaits it.
pub type UseCase<'a, T> = BoxFuture<'a, Result<T>>;

/// Dependencies of the use cases, filled in by the composition root.
pub struct Parts {
    pub store: Docstore,
    pub clock: Arc<dyn Clock>,
    pub blobs: Arc<dyn BlobStore>,
    /// `None` in a deployment without an index: only search providers answer, and other searches fail with `NoRetrieval`.
    pub engine: Option<Arc<dyn SearchEngine>>,
    pub feeder: Option<Arc<Feeder>>,
    pub runner: Option<Arc<Runner>>,
    pub pages: Arc<PageReader>,
    pub second_stage: SecondStage,
    /// Model of the semantic leg; `None`: searches are lexical.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Sources of web results besides the index.
    pub web: WebSources,
    /// Requests are counted during admission; used here for readiness only.
    pub limiter: Arc<dyn RateLimiter>,
    /// `None` if API keys are the only credentials.
    pub tokens: Option<Arc<dyn TokenVerifier>>,
    /// Checks the URLs of new webhooks.
    pub webhooks: Arc<Sender>,
    /// Checks of the machine, for readiness.
    pub host_checks: Vec<HostCheck>,
    /// Guard of uploads and indexing.
    pub free_space: Arc<FreeSpace>,
    /// Supervisor of the background tasks of the process.
    pub supervisor: Supervisor,
    /// Refunds, deletions and retention; false on an instance that leaves them to others.
    pub upkeep: bool,
    pub options: Options,
}

/// Limits and prices of the use cases.
#[derive(Clone, Debug)]
pub struct Options {
    /// Requests per second for credentials without their own limit.
    pub default_rps: u32,
    /// Price of a search for billed organizations.
    pub search_cents: u32,
    pub max_object_bytes: u64,
    pub max_files_per_organization: u64,
    /// `None`: no quota.
    pub max_bytes_per_organization: Option<u64>,
    pub presign_lifetime: Duration,
    /// Timeout of a first-stage search, after which the engine counts as unavailable.
    pub engine_timeout: Duration,
    pub capture_lifetimes: CaptureLifetimes,
    pub read_limits: ReadLimits,
    /// Retention of single usage events; counts of hours and days are kept forever.
    pub usage_retention: Duration,
    pub retention: Retention,
    /// Maximum time of a request, with its wait for a turn.
    pub request_timeout: Duration,
    pub shares: ShareLimits,
    /// Maximum number of URLs in the frontier of a crawl.
    pub max_crawl_urls: u64,
}

/// The use cases, shared by all listeners.
pub struct App {
    store: Docstore,
    clock: Arc<dyn Clock>,
    blobs: Arc<dyn BlobStore>,
    engine: Option<Arc<dyn SearchEngine>>,
    feeder: Option<Arc<Feeder>>,
    runner: Option<Arc<Runner>>,
    pages: Arc<PageReader>,
    options: Options,
    keys: authentication::KeyCache,
    tokens: Option<authentication::TokenAuthenticator>,
    usage: usage::Recorder,
    searches: search::record::SearchRecorder,
    ledger: billing::Ledger,
    ample_balances: billing::AmpleBalances,
    vectors: search::vectors::VectorCache,
    term_writer: search::stored_terms::TermWriter,
    second_stage: SecondStage,
    semantic: Option<search::semantic::Semantic>,
    web: search::providers::Web,
    has_web_pages: web_index::sources::HasPages,
    limiter: Arc<dyn RateLimiter>,
    webhooks: Arc<Sender>,
    rerank_failures: search::second_stage::FailureLog,
    free_space: Arc<FreeSpace>,
    unrecorded_grants: search::unrecorded::UnrecordedGrants,
    generations: search::generations::Generations,
    host_checks: Vec<HostCheck>,
    write_probe: WriteProbe,
    supervisor: Supervisor,
    shares: shares::Shares,
    contents: ContentBudget,
    /// Runs what must not end with its request.
    runtime: Handle,
}

impl App {
    /// Starts the background tasks. Must be called on a multi-threaded tokio runtime.
    pub fn new(parts: Parts) -> Self {
        let Parts {
            store,
            clock,
            blobs,
            engine,
            feeder,
            runner,
            pages,
            second_stage,
            embedder,
            web,
            limiter,
            tokens,
            webhooks,
            host_checks,
            free_space,
            supervisor,
            upkeep,
            options,
        } = parts;
        let usage = usage::Recorder::start(store.clone(), options.usage_retention, &supervisor);
        let searches = search::record::start(store.clone(), &supervisor);
        let ledger = billing::start_ledger(store.clone(), &supervisor);
        let term_writer = search::stored_terms::TermWriter::start(store.clone(), &supervisor);
        watch_backlog(&supervisor, &store, &engine, &clock);
        if upkeep {
            usage::spawn_pruner(&store, &clock, options.usage_retention, &supervisor);
            spawn_upkeep(&supervisor, &store, &blobs, &feeder, &clock, options.retention);
        }
        let shares = shares::Shares::new(&options.shares);
        Self {
            store,
            blobs,
            engine,
            feeder,
            runner,
            pages,
            keys: authentication::KeyCache::new(),
            tokens: tokens.map(|verifier| authentication::TokenAuthenticator::new(verifier, Arc::clone(&clock))),
            usage,
            searches,
            ledger,
            ample_balances: Default::default(),
            vectors: search::vectors::VectorCache::new(),
            term_writer,
            second_stage,
            semantic: embedder.map(search::semantic::Semantic::new),
            web: search::providers::Web::new(web, options.capture_lifetimes.snippet, &clock),
            has_web_pages: Default::default(),
            limiter,
            webhooks,
            rerank_failures: Default::default(),
            free_space,
            unrecorded_grants: Default::default(),
            generations: Default::default(),
            host_checks,
            write_probe: WriteProbe::default(),
            supervisor,
            contents: ContentBudget::new(&shares),
            shares,
            runtime: Handle::current(),
            clock,
            options,
        }
    }

    /// Updates the gauges of what this process holds at the moment. Call before they are read.
    pub fn measure(&self) {
        self.shares.measure();
        let pool = self.store.pool_usage();
        let connections = |state: &'static str, count: usize| {
            gauge!("retrieval_database_connections", "state" => state).set(count as f64);
        };
        connections("in_use", pool.in_use);
        connections("idle", pool.idle);
        connections("waiting", pool.waiting);
    }

    /// Flushes recorded usage. Call once, after the last request.
    pub async fn close(&self) {
        self.usage.flush().await;
    }
}

/// Measures the waiting work, on every instance: nobody else would notice that no worker runs.
fn watch_backlog(
    supervisor: &Supervisor,
    store: &Docstore,
    engine: &Option<Arc<dyn SearchEngine>>,
    clock: &Arc<dyn Clock>,
) {
    backlog::register();
    search::stage::register_metrics();
    let shared = (store.clone(), engine.clone(), Arc::clone(clock));
    supervisor.spawn("backlog", move || backlog::watch(shared.0.clone(), shared.1.clone(), Arc::clone(&shared.2)));
}

/// Starts the tasks that refund and delete.
fn spawn_upkeep(
    supervisor: &Supervisor,
    store: &Docstore,
    blobs: &Arc<dyn BlobStore>,
    feeder: &Option<Arc<Feeder>>,
    clock: &Arc<dyn Clock>,
    retention: Retention,
) {
    let shared = (store.clone(), Arc::clone(clock));
    supervisor.spawn("refunds", move || {
        refunds::refund_lost_searches(shared.0.clone(), Arc::clone(&shared.1), retention.searches)
    });
    let shared = (store.clone(), Arc::clone(clock));
    supervisor.spawn("retention", move || retention::prune(shared.0.clone(), Arc::clone(&shared.1), retention));
    let shared = (store.clone(), Arc::clone(blobs), Arc::clone(clock));
    supervisor.spawn("file_sizes", move || {
        files::quota::settle_expired_uploads(shared.0.clone(), Arc::clone(&shared.1), Arc::clone(&shared.2))
    });
    let shared = (store.clone(), Arc::clone(blobs), feeder.clone(), Arc::clone(clock));
    supervisor.spawn("removal", move || {
        removal::remove_deleted(shared.0.clone(), Arc::clone(&shared.1), shared.2.clone(), Arc::clone(&shared.3))
    });
}
