//! Use cases: what the service does, one method each, with no HTTP and no JSON. See README.md.

pub mod accounts;
pub mod audit;
pub mod authentication;
pub mod documents;
pub mod error;
pub mod feedback;
pub mod files;
mod keys;
pub mod readiness;
mod refunds;
pub mod search;
pub mod usage;
pub mod viewer;
pub mod web;

pub use error::{Error, Result};
pub use viewer::{Identity, Viewer};

use std::sync::Arc;
use std::time::Duration;

use authentication::TokenVerifier;
use blobs::BlobStore;
use docstore::Docstore;
use documents::CaptureLifetimes;
use engine::SearchEngine;
use ingest::{Feeder, PageReader, Runner};
use model::Clock;
use rate_limit::RateLimiter;
use search::SecondStage;
use tokio::runtime::Handle;

/// What the use cases stand on. The composition root fills it in.
pub struct Parts {
    pub store: Docstore,
    pub clock: Arc<dyn Clock>,
    pub blobs: Arc<dyn BlobStore>,
    /// `None`: this deployment has no retrieval, and searches say so.
    pub engine: Option<Arc<dyn SearchEngine>>,
    pub feeder: Option<Arc<Feeder>>,
    pub runner: Option<Arc<Runner>>,
    pub pages: Arc<PageReader>,
    pub second_stage: SecondStage,
    /// Counted with at the door; here for its state alone.
    pub limiter: Arc<dyn RateLimiter>,
    /// `None`: API keys are the only credentials.
    pub tokens: Option<Arc<dyn TokenVerifier>>,
    pub options: Options,
}

#[derive(Clone, Debug)]
pub struct Options {
    /// Requests per second of a credential without a limit of its own.
    pub default_rps: u32,
    /// What one search of a billed organization costs.
    pub search_cents: u32,
    pub max_object_bytes: u64,
    pub max_files_per_organization: u64,
    pub presign_lifetime: Duration,
    /// A first-stage search that takes longer counts as an engine that is down.
    pub engine_timeout: Duration,
    pub capture_lifetimes: CaptureLifetimes,
    /// How long single requests are kept, beside their counts.
    pub usage_retention: Duration,
}

/// The service without its wire: shared by every listener.
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
    tokens: Option<authentication::TokenDoor>,
    usage: usage::Recorder,
    searches: search::record::SearchRecorder,
    vectors: search::vectors::VectorCache,
    second_stage: SecondStage,
    limiter: Arc<dyn RateLimiter>,
    rerank_failures: search::second_stage::FailureLog,
    file_counts: files::room::FileCounts,
    /// Ranking runs on this runtime's blocking threads, whatever runtime a request came in on.
    runtime: Handle,
}

impl App {
    /// Must be called on a multi-threaded tokio runtime.
    pub fn new(parts: Parts) -> Self {
        let Parts { store, clock, blobs, engine, feeder, runner, pages, second_stage, limiter, tokens, options } =
            parts;
        let usage = usage::Recorder::start(store.clone(), Arc::clone(&clock), options.usage_retention);
        let searches = search::record::SearchRecorder::start(store.clone());
        tokio::spawn(refunds::refund_lost_searches(store.clone(), Arc::clone(&clock)));
        Self {
            store,
            blobs,
            engine,
            feeder,
            runner,
            pages,
            options,
            keys: authentication::KeyCache::new(),
            tokens: tokens.map(|verifier| authentication::TokenDoor::new(verifier, Arc::clone(&clock))),
            usage,
            searches,
            vectors: search::vectors::VectorCache::new(),
            second_stage,
            limiter,
            rerank_failures: Default::default(),
            file_counts: files::room::FileCounts::new(),
            runtime: Handle::current(),
            clock,
        }
    }

    /// Writes what is still in memory. Called once, when no more requests come.
    pub async fn close(&self) {
        self.usage.flush().await;
    }
}
