//! Steps of a run.

use std::future::Future;
use std::time::Duration;

use blobs::BlobErrorKind;
use docstore::{FileResult, IndexRun, StoreError};
use futures_util::StreamExt;
use model::{DocId, FileOutcome, IndexName};
use tokio::time::Instant;

use super::file::FileProcessor;
use super::plan::{Plan, PlannedFile, plan};
use super::{RunError, Runner};

/// Files recorded per transaction: enough to amortize the commit, few enough to show progress and to repeat little work after
/// a crash.
const RECORD_BATCH: usize = 64;
/// Documents purged per transaction.
const PURGE_BATCH: usize = 500;
const MIN_BACKOFF: Duration = Duration::from_millis(500);
const MAX_BACKOFF: Duration = Duration::from_secs(15);

impl Runner {
    /// Executes all steps of a run and marks it completed.
    pub(super) async fn execute_steps(&self, run: &IndexRun, owner: &str) -> Result<(), RunError> {
        let sync_id = run.sync_id;
        let organization_id = run.organization_id;
        let Plan { enumerated, work, withdrawn, gone, stale_names } =
            self.retry_transient(|| plan(&self.store, self.blobs.as_ref(), run, self.clock().now())).await?;
        let count = i64::try_from(enumerated).unwrap_or(i64::MAX);
        require_lease(
            self.retry_transient(|| async { Ok(self.store.begin_running(sync_id, owner.to_owned(), count).await?) })
                .await?,
        )?;
        for key in &withdrawn {
            self.retry_transient(|| async { Ok(self.blobs.delete(key).await?) }).await?;
        }
        for chunk in gone.chunks(PURGE_BATCH) {
            require_lease(self.retry_transient(|| self.purge(run, owner, chunk.to_vec())).await?)?;
        }
        if !stale_names.is_empty() {
            self.store.delete_files(organization_id, stale_names).await?;
        }
        self.process_files(run, owner, work).await?;
        self.wait_until_searchable().await?;
        require_lease(
            self.retry_transient(|| async {
                Ok(self.store.finish_run(sync_id, owner.to_owned(), None, self.clock().now()).await?)
            })
            .await?,
        )?;
        tracing::info!(%sync_id, enumerated, "indexing run completed");
        Ok(())
    }

    async fn purge(&self, run: &IndexRun, owner: &str, doc_ids: Vec<DocId>) -> Result<bool, RunError> {
        let (organization_id, sync_id) = (run.organization_id, run.sync_id);
        Ok(self.store.record_deletions(organization_id, sync_id, owner.to_owned(), doc_ids, self.clock().now()).await?)
    }

    async fn process_files(&self, run: &IndexRun, owner: &str, work: Vec<PlannedFile>) -> Result<(), RunError> {
        let files = FileProcessor {
            blobs: self.blobs.as_ref(),
            extractor: self.extractor.as_ref(),
            temp_dir: &self.options.temp_dir,
            max_object_bytes: self.options.max_object_bytes,
            organization_id: run.organization_id,
            sync_id: run.sync_id,
            clock: self.clock(),
        };
        let files = &files;
        let mut results = futures_util::stream::iter(work)
            .map(|planned| self.retry_transient(move || files.process(planned.clone())))
            .buffer_unordered(self.options.parallel_files.max(1))
            .ready_chunks(RECORD_BATCH);
        while let Some(chunk) = results.next().await {
            let chunk: Vec<FileResult> = chunk.into_iter().collect::<Result<_, _>>()?;
            require_lease(self.retry_transient(|| self.record(run, owner, chunk.clone())).await?)?;
            self.feeder.wake();
        }
        Ok(())
    }

    async fn record(&self, run: &IndexRun, owner: &str, results: Vec<FileResult>) -> Result<bool, RunError> {
        let (organization_id, sync_id) = (run.organization_id, run.sync_id);
        let outcomes: Vec<FileOutcome> = results.iter().filter_map(|result| result.changes.outcome).collect();
        let owner = owner.to_owned();
        let lease_held =
            self.store.record_file_results(organization_id, sync_id, owner, results, self.clock().now()).await?;
        for outcome in outcomes.into_iter().filter(|_| lease_held) {
            metrics::counter!("retrieval_files_total", "outcome" => outcome.as_str()).increment(1);
        }
        Ok(lease_held)
    }

    /// Waits until the index has caught up: a completed run is searchable.
    async fn wait_until_searchable(&self) -> Result<(), RunError> {
        let bounds = self.retry_transient(|| async { Ok(self.store.outbox_bounds(IndexName::Workspace).await?) });
        if let Some((_, newest)) = bounds.await? {
            self.feeder.wait_until_indexed(IndexName::Workspace, newest, self.options.retry_timeout).await?;
        }
        Ok(())
    }

    /// Retries with back-off while storage or the database is unavailable, up to `retry_timeout`.
    async fn retry_transient<T, F>(&self, mut attempt: impl FnMut() -> F) -> Result<T, RunError>
    where
        F: Future<Output = Result<T, RunError>>,
    {
        let deadline = Instant::now() + self.options.retry_timeout;
        let mut pause = MIN_BACKOFF;
        loop {
            match attempt().await {
                Err(error) if is_transient(&error) && Instant::now() + pause < deadline => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "a backend of the run is unavailable, retrying"
                    );
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(MAX_BACKOFF);
                }
                outcome => return outcome,
            }
        }
    }
}

/// Turns the outcome of a write that requires the lease into an error.
fn require_lease(held: bool) -> Result<(), RunError> {
    if held { Ok(()) } else { Err(RunError::LeaseLost) }
}

fn is_transient(error: &RunError) -> bool {
    match error {
        RunError::Storage(error) => error.kind == BlobErrorKind::Unavailable,
        RunError::Store(error) => matches!(error, StoreError::Unavailable(_) | StoreError::Conflict),
        RunError::LeaseLost | RunError::Stopping | RunError::Index(_) | RunError::TempFile(_) | RunError::Panicked => {
            false
        }
    }
}
