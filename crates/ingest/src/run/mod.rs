//! Indexing runs: one organization's files, from storage to searchable documents.
//!
//! A run is a row with a lease. The process that holds the lease executes the run and renews the lease. If it dies, the
//! lease expires and another process resumes the run: recorded results are kept, the rest is processed.
//!
//! A process executes many runs at a time. Their files share its memory, workers and writes in turn of their organizations, so that
//! a small run ends soon beside large ones.
//!
//! While the disk is almost full, runs delete what is gone and wait with the rest.

mod execute;
mod file;
mod plan;
mod refusals;
mod shares;

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use admission::Compute;
use blobs::BlobStore;
use docstore::{Docstore, IndexRun, StoreError};
use extract_worker::{Extractor, WorkError};
use futures_util::FutureExt;
use model::{Clock, FileOutcome, SyncId, Timestamp};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use trace_context::{ActiveSpan, SpanKind, TraceContext};
use tracing::Instrument;
use uuid::Uuid;

use crate::feeder::{FeedError, Feeder};
use crate::leases::Leases;
use crate::pages::IsFull;
use crate::supervisor::report_panic;
use shares::Shares;

/// Limits and timeouts of a [`Runner`].
#[derive(Clone)]
pub struct RunnerOptions {
    pub clock: Arc<dyn Clock>,
    /// Threads that prepare documents for storage.
    pub compute: Compute,
    /// Files of one run that are processed concurrently.
    pub parallel_files: usize,
    /// Runs of different organizations that this process executes concurrently. A run that waits for its turn costs little.
    pub parallel_runs: usize,
    /// Maximum bytes of all files in progress, in memory and on disk. At least `max_object_bytes`.
    pub max_bytes_in_progress: u64,
    /// Maximum size of a file in bytes; larger ones fail, though storage should have rejected them.
    pub max_object_bytes: u64,
    /// Directory for files that are too large for memory.
    pub temp_dir: PathBuf,
    /// While true, runs begin no further file, and wait.
    pub is_full: IsFull,
    /// Time after which another worker takes over the run of a dead one.
    pub lease: Duration,
    /// Time to retry while storage or the database is unavailable, or the index makes no progress, after which the run fails.
    /// Time on an almost full disk does not count. A file whose object alone is unavailable fails after a tenth of it.
    pub retry_timeout: Duration,
}

/// Reason for a run to stop before its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error("another worker has taken over the run")]
    LeaseLost,
    #[error("this process is stopping")]
    Stopping,
    #[error("object storage is unavailable")]
    Storage(#[from] blobs::BlobError),
    #[error("the database is unavailable")]
    Store(#[from] StoreError),
    #[error("the search index did not accept the documents")]
    Index(#[from] FeedError),
    #[error(transparent)]
    Extraction(WorkError),
    #[error("the disk is full")]
    DiskFull(#[source] blobs::BlobError),
    #[error("the disk of this server failed")]
    Disk(#[source] blobs::BlobError),
    #[error("internal error")]
    Panicked,
}

/// Executes indexing runs.
pub struct Runner {
    store: Docstore,
    blobs: Arc<dyn BlobStore>,
    extractor: Arc<dyn Extractor>,
    feeder: Arc<Feeder>,
    shares: Shares,
    leases: Leases<SyncId>,
    options: RunnerOptions,
    wake: Notify,
}

/// Interval at which a process polls for runs that other processes queued or abandoned.
const IDLE_POLL: Duration = Duration::from_secs(1);

/// Makes the counters known to the first scrape.
pub fn register_metrics() {
    FileOutcome::ALL.iter().for_each(|outcome| execute::count_files(*outcome, 0));
}

impl Runner {
    pub fn new(
        store: Docstore,
        blobs: Arc<dyn BlobStore>,
        extractor: Arc<dyn Extractor>,
        feeder: Arc<Feeder>,
        options: RunnerOptions,
    ) -> Self {
        let shares = Shares::new(options.max_bytes_in_progress);
        Self { store, blobs, extractor, feeder, shares, leases: Leases::default(), options, wake: Notify::new() }
    }

    /// Looks for a new run at once.
    pub fn wake(&self) {
        self.wake.notify_waiters();
    }

    /// Executes runs until `stop`. An interrupted run is released for any process to resume.
    pub async fn work(self: Arc<Self>, stop: CancellationToken) {
        tokio::select! {
            () = self.execute_runs(&stop) => {}
            () = self.renew_leases() => {}
        }
    }

    /// Renews the leases of all runs in progress, with one statement, until dropped.
    async fn renew_leases(&self) {
        let extend = |held| self.store.extend_run_leases(held, self.clock().now() + self.options.lease);
        self.leases.renew(self.options.lease / 3, "indexing", extend).await;
    }

    async fn execute_runs(self: &Arc<Self>, stop: &CancellationToken) {
        let mut running = JoinSet::new();
        while !stop.is_cancelled() {
            // Registered before polling, so that a wake-up in between is not lost.
            let woken = self.wake.notified();
            while running.try_join_next().is_some() {}
            if running.len() < self.options.parallel_runs.max(1)
                && let Some((run, owner)) = self.claim().await
            {
                let (runner, stop) = (Arc::clone(self), stop.clone());
                let trace = TraceContext::start(run.sync_id.0);
                // At the highest level, so that a filter which permits a line permits its span, too.
                let log = tracing::error_span!("indexing_run", sync_id = %run.sync_id, trace_id = %trace.trace_id());
                running.spawn(async move { runner.execute(run, trace, owner, stop).await }.instrument(log));
                continue;
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = woken => {}
                // The next run of its organization may start.
                Some(_) = running.join_next() => {}
                () = tokio::time::sleep(IDLE_POLL) => {}
            }
        }
        while running.join_next().await.is_some() {}
    }

    /// Claims the next run. Returns it with the name of its execution.
    async fn claim(&self) -> Option<(IndexRun, String)> {
        loop {
            let owner = Uuid::new_v4().to_string();
            let now = self.clock().now();
            match self.store.claim_run(owner.clone(), now, now + self.options.lease).await {
                Ok(run) => return run.map(|run| (run, owner)),
                // Another process claimed a run of the same organization first.
                Err(StoreError::Conflict) => {}
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "claiming a run failed, retrying");
                    return None;
                }
            }
        }
    }

    fn clock(&self) -> &dyn Clock {
        self.options.clock.as_ref()
    }

    /// Executes one run while its lease is held.
    async fn execute(self: Arc<Self>, run: IndexRun, trace: TraceContext, owner: String, stop: CancellationToken) {
        let sync_id = run.sync_id;
        let lost = self.leases.add(sync_id, &owner);
        tracing::info!(%sync_id, organization_id = %run.organization_id, mode = run.mode.as_str(), "indexing run started");
        let mut span = ActiveSpan::of(&trace, "indexing run", SpanKind::Internal);
        let outcome = tokio::select! {
            // A run that panics fails: after a restart of the worker it would only panic again.
            outcome = AssertUnwindSafe(trace_context::within(trace, self.execute_steps(&run, &owner))).catch_unwind() => outcome.unwrap_or_else(|panic| {
                report_panic("runner", panic.as_ref());
                Err(RunError::Panicked)
            }),
            () = lost.cancelled() => Err(RunError::LeaseLost),
            () = stop.cancelled() => Err(RunError::Stopping),
        };
        self.leases.remove(sync_id, &owner);
        if outcome.as_ref().is_err_and(|error| !matches!(error, RunError::LeaseLost | RunError::Stopping)) {
            span.fail();
        }
        drop(span);
        match outcome {
            Ok(()) => {}
            Err(RunError::LeaseLost) => tracing::info!(%sync_id, "another worker has taken over the run"),
            Err(RunError::Stopping) => {
                // Expires the lease, so that the next worker resumes without waiting.
                if let Err(error) = self.store.extend_run_lease(sync_id, owner, Timestamp::UNIX_EPOCH).await {
                    tracing::warn!(%sync_id, error = &error as &dyn std::error::Error, "releasing the run failed");
                }
            }
            Err(error) => {
                tracing::error!(%sync_id, error = &error as &dyn std::error::Error, "indexing run failed");
                let message = error_causes::describe(&error);
                let now = self.clock().now();
                let finished = self.store.finish_run(sync_id, owner, Some(message), now, webhooks::run_ended).await;
                if let Err(error) = finished {
                    // The lease expires, and the next worker retries the run.
                    tracing::warn!(%sync_id, error = &error as &dyn std::error::Error, "recording the failed run failed");
                }
            }
        }
    }
}
