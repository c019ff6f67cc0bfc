//! Steps of a run.

use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use admission::Permit;
use blobs::BlobErrorKind;
use docstore::{FileResult, IndexRun, StoreError};
use model::{DocId, FileOutcome, IndexName, OrganizationId};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::Instrument;

use super::file::{FileProcessor, Processed, result_bytes};
use super::plan::{Plan, PlannedFile, WorkPage, plan, work_page};
use super::refusals::Refusals;
use super::{RunError, Runner};
use crate::feeder::FeedError;
use crate::objects;

/// Files recorded per transaction: enough to amortize the commit, few enough to show progress and to repeat little work after
/// a crash.
const RECORD_BATCH: usize = 64;
/// Text after which a batch is recorded, in bytes: other writes wait for the whole transaction.
const RECORD_BYTES: u64 = 4 << 20;
/// Postponed files of a run, after which it starts no others until some are done.
const MAX_POSTPONED: usize = 64;
/// Documents purged, and files changed apart from their contents, per transaction.
const PURGE_BATCH: usize = 500;
/// Interval at which a waiting file looks for room on the disk.
const FULL_POLL: Duration = Duration::from_secs(1);
const MIN_BACKOFF: Duration = Duration::from_millis(500);
const MAX_BACKOFF: Duration = Duration::from_secs(15);

impl Runner {
    /// Executes all steps of a run and marks it completed.
    pub(super) async fn execute_steps(self: &Arc<Self>, run: &IndexRun, owner: &str) -> Result<(), RunError> {
        let sync_id = run.sync_id;
        let organization_id = run.organization_id;
        let Plan { enumerated, work, withdrawn, gone, stale_names, stale_before, mismeasured } =
            self.retry_transient(|| plan(&self.store, self.blobs.as_ref(), run, self.clock().now())).await?;
        let count = i64::try_from(enumerated).unwrap_or(i64::MAX);
        require_lease(
            self.retry_transient(|| async { Ok(self.store.begin_running(sync_id, owner.to_owned(), count).await?) })
                .await?,
        )?;
        for key in &withdrawn {
            self.retry_transient(|| self.delete_withdrawn(organization_id, key)).await?;
        }
        for chunk in gone.chunks(PURGE_BATCH) {
            require_lease(self.retry_transient(|| self.purge(run, owner, chunk.to_vec())).await?)?;
        }
        for chunk in stale_names.chunks(PURGE_BATCH) {
            self.retry_transient(|| async {
                let _turn = self.shares.write(organization_id).await;
                Ok(self.store.delete_files(organization_id, chunk.to_vec(), stale_before).await?)
            })
            .await?;
        }
        for chunk in mismeasured.chunks(PURGE_BATCH) {
            self.retry_transient(|| async {
                let _turn = self.shares.write(organization_id).await;
                Ok(self.store.remeasure_uploads(organization_id, chunk.to_vec(), self.clock().now()).await?)
            })
            .await?;
        }
        self.process_files(run, owner, work).await?;
        self.wait_until_searchable(organization_id).await?;
        require_lease(
            self.retry_transient(|| async {
                let now = self.clock().now();
                Ok(self.store.finish_run(sync_id, owner.to_owned(), None, now, webhooks::run_ended).await?)
            })
            .await?,
        )?;
        tracing::info!(%sync_id, enumerated, "indexing run completed");
        Ok(())
    }

    /// Deletes the object of a deleted file, unless the owner has uploaded it again since the plan. One attempt: between two, the owner
    /// may upload it again.
    async fn delete_withdrawn(&self, organization_id: OrganizationId, key: &str) -> Result<(), RunError> {
        let Some(object) = self.blobs.head(key).await? else { return Ok(()) };
        let file = self.store.find_file(organization_id, key.to_owned()).await?;
        if file.is_some_and(|file| objects::is_withdrawn(&file, &object)) {
            self.blobs.delete_once(key).await?;
        }
        Ok(())
    }

    async fn purge(&self, run: &IndexRun, owner: &str, doc_ids: Vec<DocId>) -> Result<bool, RunError> {
        let (organization_id, sync_id) = (run.organization_id, run.sync_id);
        let _turn = self.shares.write(organization_id).await;
        Ok(self.store.record_deletions(organization_id, sync_id, owner.to_owned(), doc_ids, self.clock().now()).await?)
    }

    async fn process_files(
        self: &Arc<Self>,
        run: &IndexRun,
        owner: &str,
        work: HashSet<DocId>,
    ) -> Result<(), RunError> {
        let organization_id = run.organization_id;
        let mut files = Files::new(FileProcessor { runner: Arc::clone(self), organization_id, sync_id: run.sync_id });
        let mut page = WorkPage { files: Vec::new(), next: None };
        let (mut planned, mut is_first) = (Vec::new().into_iter(), true);
        loop {
            while files.has_room() {
                if let Some(file) = planned.next() {
                    files.start(file, false);
                } else if (is_first && !work.is_empty()) || page.next.is_some() {
                    is_first = false;
                    let next = page.next.take();
                    let list = || work_page(&self.store, self.blobs.as_ref(), organization_id, &work, next.clone());
                    page = self.retry_transient(list).await?;
                    planned = std::mem::take(&mut page.files).into_iter();
                } else {
                    break;
                }
            }
            let (results, memory) = files.next_batch().await?;
            if results.is_empty() && files.is_empty() {
                return Ok(());
            }
            if !results.is_empty() {
                require_lease(self.retry_transient(|| self.record(run, owner, results.clone())).await?)?;
                self.feeder.wake();
            }
            drop(memory);
        }
    }

    async fn record(&self, run: &IndexRun, owner: &str, results: Vec<FileResult>) -> Result<bool, RunError> {
        let (organization_id, sync_id) = (run.organization_id, run.sync_id);
        let outcomes: Vec<FileOutcome> = results.iter().filter_map(|result| result.changes.outcome).collect();
        let owner = owner.to_owned();
        let _turn = self.shares.write(organization_id).await;
        let lease_held =
            self.store.record_file_results(organization_id, sync_id, owner, results, self.clock().now()).await?;
        for outcome in outcomes.into_iter().filter(|_| lease_held) {
            count_files(outcome, 1);
        }
        Ok(lease_held)
    }

    /// Waits until the index has the organization's changes: a completed run is searchable.
    async fn wait_until_searchable(&self, organization_id: OrganizationId) -> Result<(), RunError> {
        let bounds = || async { Ok(self.store.outbox_bounds_of(IndexName::Workspace, organization_id).await?) };
        let Some((_, newest)) = self.retry_transient(bounds).await? else { return Ok(()) };
        let timeout = self.options.retry_timeout;
        self.retry_transient(|| async {
            Ok(self.feeder.wait_until_indexed_for(organization_id, newest, timeout).await?)
        })
        .await
    }

    /// Waits while the disk is almost full.
    async fn wait_for_room(&self) {
        while (self.options.is_full)() {
            tokio::time::sleep(FULL_POLL).await;
        }
    }

    /// Retries with back-off while storage or the database is unavailable, up to `retry_timeout` after the first failure: the attempt
    /// may have waited long for its turn. While the disk is almost full it does not give up: runs wait for room.
    async fn retry_transient<T, F>(&self, mut attempt: impl FnMut() -> F) -> Result<T, RunError>
    where
        F: Future<Output = Result<T, RunError>>,
    {
        let mut deadline: Option<Instant> = None;
        let mut pause = MIN_BACKOFF;
        loop {
            let error = match attempt().await {
                Err(error) if is_transient(&error) => error,
                outcome => return outcome,
            };
            if (self.options.is_full)() {
                deadline = None;
            } else if Instant::now() + pause
                >= *deadline.get_or_insert_with(|| Instant::now() + self.options.retry_timeout)
            {
                return Err(error);
            }
            tracing::warn!(error = &error as &dyn std::error::Error, "a backend of the run is unavailable, retrying");
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(MAX_BACKOFF);
        }
    }
}

/// Task of a file that has ended.
struct Ended {
    planned: PlannedFile,
    was_postponed: bool,
    outcome: Result<Processed, RunError>,
}

/// Files of a run in progress. Each is a task: it gives back its worker also while the run waits for something else.
struct Files {
    processor: FileProcessor,
    parallel: usize,
    tasks: JoinSet<Ended>,
    /// Number of tasks with postponed files.
    postponed: usize,
}

impl Files {
    fn new(processor: FileProcessor) -> Self {
        let parallel = processor.runner.options.parallel_files.max(1);
        Self { processor, parallel, tasks: JoinSet::new(), postponed: 0 }
    }

    fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    fn has_room(&self) -> bool {
        self.tasks.len() - self.postponed < self.parallel && self.postponed < MAX_POSTPONED
    }

    /// Starts the task of a file, which may have been postponed before.
    fn start(&mut self, planned: PlannedFile, was_postponed: bool) {
        let files = self.processor.clone();
        self.postponed += usize::from(was_postponed);
        let processing = async move {
            let refusals = Refusals::new(files.runner.options.retry_timeout);
            let attempt = || async {
                files.runner.wait_for_room().await;
                let processed = if was_postponed {
                    files.process_postponed(planned.clone()).await
                } else {
                    files.process(planned.clone()).await
                };
                match processed {
                    Err(RunError::Storage(error)) => files.storage_failed(&planned, error, &refusals).await,
                    processed => processed,
                }
            };
            let outcome = files.runner.retry_transient(attempt).await;
            Ended { planned, was_postponed, outcome }
        };
        self.tasks.spawn(processing.in_current_span());
    }

    /// Waits for a file and returns the results that are ready, at most a batch, with the memory that they take.
    async fn next_batch(&mut self) -> Result<(Vec<FileResult>, Vec<Permit>), RunError> {
        let (mut results, mut memory, mut bytes) = (Vec::new(), Vec::new(), 0);
        let mut next = self.tasks.join_next().await;
        while let Some(ended) = next {
            let Ended { planned, was_postponed, outcome } = ended.map_err(|_| RunError::Panicked)?;
            self.postponed -= usize::from(was_postponed);
            match outcome? {
                Processed::Done(result, permit) => {
                    bytes += result_bytes(&result);
                    results.push(*result);
                    memory.push(permit);
                }
                Processed::Postponed => self.start(planned, true),
            }
            let is_full = results.len() >= RECORD_BATCH || bytes >= RECORD_BYTES;
            next = if is_full { None } else { self.tasks.try_join_next() };
        }
        Ok((results, memory))
    }
}

/// Turns the outcome of a write that requires the lease into an error.
fn require_lease(held: bool) -> Result<(), RunError> {
    if held { Ok(()) } else { Err(RunError::LeaseLost) }
}

fn is_transient(error: &RunError) -> bool {
    match error {
        RunError::Storage(error) => error.kind == BlobErrorKind::Unavailable,
        RunError::Store(error) | RunError::Index(FeedError::Store(error)) => {
            matches!(error, StoreError::Unavailable(_) | StoreError::Aborted(_) | StoreError::Conflict)
        }
        // The disk may be freed, and the system may have processes again.
        RunError::DiskFull(_) | RunError::Extraction(_) => true,
        RunError::Index(
            FeedError::Engine(_) | FeedError::LeaseLost(_) | FeedError::UnknownGeneration(_) | FeedError::Timeout(_),
        )
        | RunError::Disk(_)
        | RunError::LeaseLost
        | RunError::Stopping
        | RunError::Panicked => false,
    }
}

/// Counts files. A count of 0 makes the counter known to the first scrape.
pub(super) fn count_files(outcome: FileOutcome, files: u64) {
    metrics::counter!("retrieval_files_total", "outcome" => outcome.as_str()).increment(files);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_for_the_index_outlives_failures_of_the_database() {
        let unavailable = || StoreError::Unavailable("the connection was closed".to_owned());
        assert!(is_transient(&unavailable().into()));
        assert!(is_transient(&FeedError::Store(unavailable()).into()));
        assert!(!is_transient(&FeedError::Timeout(Duration::from_secs(1)).into()), "the index did not catch up");
    }
}
