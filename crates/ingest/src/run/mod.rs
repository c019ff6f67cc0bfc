//! Indexing runs: one organization's files, from storage to searchable documents.
//!
//! A run is a row with a lease. Whoever holds the lease works on it and renews it; a worker that dies lets
//! it lapse, and another takes the run over: what was already recorded of it stands, the rest is done.

mod execute;
mod file;
mod plan;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use blobs::BlobStore;
use docstore::{Docstore, IndexRun, StoreError};
use extract_worker::Extractor;
use model::{Clock, SyncId, Timestamp};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::feeder::{FeedError, Feeder};

#[derive(Clone)]
pub struct RunnerOptions {
    pub clock: Arc<dyn Clock>,
    /// Files of one run that are worked on together.
    pub parallel_files: usize,
    /// Runs (of different organizations) that this process works on together.
    pub parallel_runs: usize,
    /// Files above this many bytes fail; storage should not have let them in.
    pub max_object_bytes: u64,
    /// Where files are put that are too large to be held in memory.
    pub temp_dir: PathBuf,
    /// How long a run outlives its worker before another takes it over.
    pub lease: Duration,
    /// How long a run waits for storage or the index to come back before it fails.
    pub patience: Duration,
}

/// Why a run stopped before its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    /// Another worker has the run by now: nothing more to do here.
    #[error("the run belongs to another worker")]
    Lost,
    #[error("this process is stopping")]
    Stopping,
    #[error("object storage is unavailable")]
    Storage(#[from] blobs::BlobError),
    #[error("the database is unavailable")]
    Store(#[from] StoreError),
    #[error("the search index did not take the documents")]
    Index(#[from] FeedError),
    #[error("a file could not be put aside")]
    TempFile(#[from] std::io::Error),
}

/// Works on runs.
pub struct Runner {
    store: Docstore,
    blobs: Arc<dyn BlobStore>,
    extractor: Arc<dyn Extractor>,
    feeder: Arc<Feeder>,
    options: RunnerOptions,
    wake: Notify,
}

/// How long an idle worker waits before it looks for runs that other processes queued or left.
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

    /// There may be a new run: look now.
    pub fn wake(&self) {
        self.wake.notify_waiters();
    }

    /// Works until `stop`; a run that is interrupted by it is handed back for any worker to go on with.
    pub async fn work(self: Arc<Self>, stop: CancellationToken) {
        let workers = (0..self.options.parallel_runs.max(1)).map(|_| {
            let runner = Arc::clone(&self);
            let stop = stop.clone();
            async move { runner.work_alone(stop).await }
        });
        futures_util::future::join_all(workers).await;
    }

    async fn work_alone(&self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            // Asked for before looking, so that a wake-up in between is not lost.
            let woken = self.wake.notified();
            let owner = Uuid::new_v4().to_string();
            let now = self.clock().now();
            match self.store.claim_run(owner.clone(), now, now + self.options.lease).await {
                Ok(Some(run)) => {
                    self.execute(run, owner, stop.clone()).await;
                    continue;
                }
                Ok(None) => {}
                // Two workers reached for the same organization: the other has it.
                Err(StoreError::Conflict) => continue,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "looking for runs failed, trying again");
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

    /// Works on one run to its end, renewing its lease on the way.
    async fn execute(&self, run: IndexRun, owner: String, stop: CancellationToken) {
        let sync_id = run.sync_id;
        tracing::info!(%sync_id, organization_id = %run.organization_id, mode = run.mode.as_str(), "indexing run begins");
        let outcome = tokio::select! {
            outcome = self.execute_steps(&run, &owner) => outcome,
            error = self.keep_lease(sync_id, &owner) => Err(error),
            () = stop.cancelled() => Err(RunError::Stopping),
        };
        match outcome {
            Ok(()) => {}
            Err(RunError::Lost) => tracing::info!(%sync_id, "another worker has the run"),
            Err(RunError::Stopping) => {
                // Expired at once: whoever starts next goes on without waiting.
                if let Err(error) = self.store.extend_run_lease(sync_id, owner, Timestamp::UNIX_EPOCH).await {
                    tracing::warn!(%sync_id, error = &error as &dyn std::error::Error, "handing the run back failed");
                }
            }
            Err(error) => {
                tracing::error!(%sync_id, error = &error as &dyn std::error::Error, "indexing run failed");
                let message = error_causes::describe(&error);
                if let Err(error) = self.store.finish_run(sync_id, owner, Some(message), self.clock().now()).await {
                    // Its lease lapses, and the next worker tries again.
                    tracing::warn!(%sync_id, error = &error as &dyn std::error::Error, "ending the run failed");
                }
            }
        }
    }

    /// Renews the lease for as long as it is polled; ends only when the run is lost.
    async fn keep_lease(&self, sync_id: SyncId, owner: &str) -> RunError {
        loop {
            tokio::time::sleep(self.options.lease / 3).await;
            match self.store.extend_run_lease(sync_id, owner.to_owned(), self.clock().now() + self.options.lease).await
            {
                Ok(true) => {}
                Ok(false) => return RunError::Lost,
                // Should it last, another worker takes the run over, and the next renewal says so.
                Err(error) => {
                    tracing::warn!(%sync_id, error = &error as &dyn std::error::Error, "renewing the run's lease failed");
                }
            }
        }
    }
}
