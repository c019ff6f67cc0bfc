#![doc = include_str!("../README.md")]

pub mod accounts;
pub mod audit;
pub mod authentication;
mod billing;
mod content_budget;
pub mod documents;
pub mod error;
mod excerpt;
pub mod feedback;
pub mod files;
mod keys;
pub mod readiness;
mod refunds;
pub mod search;
mod shares;
pub mod usage;
pub mod viewer;
pub mod web;

pub use billing::Charge;
pub use content_budget::ReadLimits;
pub use error::{Error, Result};
pub use ingest::{clock, supervisor};
pub use shares::{ShareLimits, Work};
pub use viewer::{Identity, Viewer};

use std::sync::Arc;
use std::time::Duration;

use authentication::TokenVerifier;
use blobs::BlobStore;
use content_budget::ContentBudget;
use docstore::Docstore;
use documents::CaptureLifetimes;
use engine::SearchEngine;
use ingest::{Feeder, PageReader, Runner, Supervisor};
use model::Clock;
use rate_limit::RateLimiter;
use readiness::{HostCheck, WriteProbe};
use search::SecondStage;
use tokio::runtime::Handle;

/// Dependencies of the use cases, filled in by the composition root.
pub struct Parts {
    pub store: Docstore,
    pub clock: Arc<dyn Clock>,
    pub blobs: Arc<dyn BlobStore>,
    /// `None` in a deployment without retrieval: searches fail with `NoRetrieval`.
    pub engine: Option<Arc<dyn SearchEngine>>,
    pub feeder: Option<Arc<Feeder>>,
    pub runner: Option<Arc<Runner>>,
    pub pages: Arc<PageReader>,
    pub second_stage: SecondStage,
    /// Requests are counted during admission; used here for readiness only.
    pub limiter: Arc<dyn RateLimiter>,
    /// `None` if API keys are the only credentials.
    pub tokens: Option<Arc<dyn TokenVerifier>>,
    /// Checks of the machine, for readiness.
    pub host_checks: Vec<HostCheck>,
    /// Supervisor of the background tasks of the process.
    pub supervisor: Supervisor,
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
    pub presign_lifetime: Duration,
    /// Timeout of a first-stage search, after which the engine counts as unavailable.
    pub engine_timeout: Duration,
    pub capture_lifetimes: CaptureLifetimes,
    pub read_limits: ReadLimits,
    /// Retention of single usage events; aggregated counts are kept forever.
    pub usage_retention: Duration,
    /// Maximum time of a request, with its wait for a turn.
    pub request_timeout: Duration,
    pub shares: ShareLimits,
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
    vectors: search::vectors::VectorCache,
    second_stage: SecondStage,
    limiter: Arc<dyn RateLimiter>,
    rerank_failures: search::second_stage::FailureLog,
    file_quota: files::quota::FileQuota,
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
            limiter,
            tokens,
            host_checks,
            supervisor,
            options,
        } = parts;
        let usage = usage::Recorder::start(store.clone(), Arc::clone(&clock), options.usage_retention, &supervisor);
        let searches = search::record::SearchRecorder::start(store.clone(), &supervisor);
        let refunding = (store.clone(), Arc::clone(&clock));
        supervisor
            .spawn("refunds", move || refunds::refund_lost_searches(refunding.0.clone(), Arc::clone(&refunding.1)));
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
            vectors: search::vectors::VectorCache::new(),
            second_stage,
            limiter,
            rerank_failures: Default::default(),
            file_quota: files::quota::FileQuota::new(),
            host_checks,
            write_probe: WriteProbe::default(),
            supervisor,
            contents: ContentBudget::new(shares.compute().clone()),
            shares,
            runtime: Handle::current(),
            clock,
            options,
        }
    }

    /// Flushes recorded usage. Call once, after the last request.
    pub async fn close(&self) {
        self.usage.flush().await;
    }
}
