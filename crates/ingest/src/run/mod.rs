//! Indexing runs: one organization's files, from storage to searchable documents.
//!
//! A run is a row with a lease. The worker that holds the lease executes the run and renews the lease. If the worker dies, the
//! lease expires and another worker resumes the run: recorded results are kept, the rest is processed.

mod execute;
mod file;
mod plan;

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use blobs::BlobStore;
use docstore::{Docstore, IndexRun, StoreError};
use extract_worker::Extractor;
use futures_util::FutureExt;
use model::{Clock, SyncId, Timestamp};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::feeder::{FeedError, Feeder};
use crate::supervisor::report_panic;

/// Limits and timeouts of a [`Runner`].
#[derive(Clone)]
pub struct RunnerOptions {
    pub clock: Arc<dyn Clock>,
    /// Files of one run that are processed concurrently.
    pub parallel_files: usize,
    /// Runs of different organizations that this process executes concurrently.
    pub parallel_runs: usize,
    /// Maximum size of a file in bytes; larger ones fail, though storage should have rejected them.
    pub max_object_bytes: u64,
    /// Directory for files that are too large for memory.
    pub temp_dir: PathBuf,
    /// Time after which another worker takes over the run of a dead one.
    pub lease: Duration,
    /// Time to retry while storage, the database or the index is unavailable, after which the run fails.
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
    #[error("writing a temporary file failed")]
    TempFile(#[from] std::io::Error),
    #[error("internal error")]
    Panicked,
}

/// Executes indexing runs.
pub struct Runner {
    store: Docstore,
    blobs: Arc<dyn BlobStore>,
    extractor: Arc<dyn Extractor>,
    feeder: Arc<Feeder>,
    options: RunnerOptions,
    wake: Notify,
}

/// Interval at which an idle worker polls for runs that other processes queued or abandoned.
const IDLE_POLL: Duration = Duration::from_secs(1);

impl Runner {
    pub fn new(
        store: Docstore,
        blobs: Arc<dyn BlobStore>,
        extractor: Arc<dyn Extractor>,
        feeder: Arc<Feeder>,
        options: RunnerOptions,
    ) -> Self {
        Self { store, blobs, extractor, feeder, options, wake: Notify::new() }
    }

    /// Wakes idle workers, because there may be a new run.
    pub fn wake(&self) {
        self.wake.notify_waiters();
    }

    /// Executes runs until `stop`. An interrupted run is released for any worker to resume.
    pub async fn work(self: Arc<Self>, stop: CancellationToken) {
        let workers = (0..self.options.parallel_runs.max(1)).map(|_| {
            let runner = Arc::clone(&self);
            let stop = stop.clone();
            async move { runner.run_worker(stop).await }
        });
        futures_util::future::join_all(workers).await;
    }

    async fn run_worker(&self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            // Registered before polling, so that a wake-up in between is not lost.
            let woken = self.wake.notified();
            let owner = Uuid::new_v4().to_string();
            let now = self.clock().now();
            match self.store.claim_run(owner.clone(), now, now + self.options.lease).await {
                Ok(Some(run)) => {
                    self.execute(run, owner, stop.clone()).await;
                    continue;
                }
                Ok(None) => {}
                // Another worker claimed a run of the same organization first.
                Err(StoreError::Conflict) => continue,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "claiming a run failed, retrying");
                }
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = woken => {}
                () = tokio::time::sleep(IDLE_POLL) => {}
            }
        }
    }

    fn clock(&self) -> &dyn Clock {
        self.options.clock.as_ref()
    }

    /// Executes one run while renewing its lease.
    async fn execute(&self, run: IndexRun, owner: String, stop: CancellationToken) {
        let sync_id = run.sync_id;
        tracing::info!(%sync_id, organization_id = %run.organization_id, mode = run.mode.as_str(), "indexing run started");
        let outcome = tokio::select! {
            // A run that panics fails: after a restart of the worker it would only panic again.
            outcome = AssertUnwindSafe(self.execute_steps(&run, &owner)).catch_unwind() => outcome.unwrap_or_else(|panic| {
                report_panic("runner", panic.as_ref());
                Err(RunError::Panicked)
            }),
            error = self.renew_lease(sync_id, &owner) => Err(error),
            () = stop.cancelled() => Err(RunError::Stopping),
        };
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
                if let Err(error) = self.store.finish_run(sync_id, owner, Some(message), self.clock().now()).await {
                    // The lease expires, and the next worker retries the run.
                    tracing::warn!(%sync_id, error = &error as &dyn std::error::Error, "recording the failed run failed");
                }
            }
        }
    }

    /// Renews the lease until it is lost.
    async fn renew_lease(&self, sync_id: SyncId, owner: &str) -> RunError {
        loop {
            tokio::time::sleep(self.options.lease / 3).await;
            match self.store.extend_run_lease(sync_id, owner.to_owned(), self.clock().now() + self.options.lease).await
            {
                Ok(true) => {}
                Ok(false) => return RunError::LeaseLost,
                // If the failure lasts, another worker takes over and the next renewal returns false.
                Err(error) => {
                    tracing::warn!(%sync_id, error = &error as &dyn std::error::Error, "renewing the run's lease failed");
                }
            }
        }
    }
}
