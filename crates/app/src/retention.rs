//! Deletion of searches, grants, readings of pages, content of removed pages, replaced captures, feedback, runs with their outcomes, and
//! research runs after their retention.

use std::sync::Arc;
use std::time::Duration;

use docstore::{Docstore, StoreError};
use model::{Clock, Timestamp};

/// Interval between sweeps.
const INTERVAL: Duration = Duration::from_secs(60);
/// Rows deleted per transaction.
const BATCH: i64 = 1_000;
/// Readings of pages, or captures, deleted per transaction, each with its content.
const PAGES: i64 = 100;
/// Research runs deleted per transaction, each with its events.
const RESEARCH: i64 = 100;
/// Pause between transactions, for other writers.
const PAUSE: Duration = Duration::from_millis(20);

/// Ages of deletion; `None` keeps rows forever.
#[derive(Clone, Copy, Debug, Default)]
pub struct Retention {
    /// Of searches, and of grants and readings of pages since their last use.
    pub searches: Option<Duration>,
    pub feedback: Option<Duration>,
    /// Of captures that were shown or cited, since they were replaced, and of the content of removed web pages.
    pub evidence: Duration,
}

/// Age of deletion of the outcomes of runs.
const OUTCOMES_KEPT: Duration = Duration::from_hours(30 * 24);

/// Age of deletion of indexing runs, since their end.
const RUNS_KEPT: Duration = Duration::from_hours(90 * 24);

/// Sweeps periodically. Safe to run on several instances at once.
pub(crate) async fn prune(store: Docstore, clock: Arc<dyn Clock>, retention: Retention) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        if let Err(error) = sweep(&store, clock.now(), retention).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "pruning expired rows failed");
        }
    }
}

async fn sweep(store: &Docstore, now: Timestamp, retention: Retention) -> Result<(), StoreError> {
    if let Some(keep) = retention.searches {
        let before = now - keep;
        in_batches(BATCH, || store.prune_searches(before, BATCH)).await?;
        in_batches(BATCH, || store.prune_grants(before, BATCH)).await?;
        in_batches(PAGES, || store.prune_page_reads(before, PAGES)).await?;
    }
    in_batches(PAGES, || store.prune_removed_pages(now - retention.evidence, now, PAGES)).await?;
    in_batches(PAGES, || store.prune_captures(now - retention.evidence, now, PAGES)).await?;
    in_batches(BATCH, || store.prune_run_files(now - OUTCOMES_KEPT, BATCH)).await?;
    in_batches(BATCH, || store.prune_runs(now - RUNS_KEPT, BATCH)).await?;
    in_batches(RESEARCH, || store.prune_research(now, RESEARCH)).await?;
    if let Some(keep) = retention.feedback {
        in_batches(BATCH, || store.prune_feedback(now - keep, BATCH)).await?;
    }
    Ok(())
}

/// Repeats a deletion until it deletes less than a batch, with pauses in between.
pub(crate) async fn in_batches<F>(batch: i64, mut delete: impl FnMut() -> F) -> Result<(), StoreError>
where
    F: Future<Output = Result<usize, StoreError>>,
{
    while delete().await? as i64 >= batch {
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use docstore::{Location, Organization, Search};
    use model::{AuditAction, OrganizationId};
    use uuid::Uuid;

    use super::*;
    use crate::audit;

    const DAY: Duration = Duration::from_hours(24);

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn searches_are_deleted_when_they_are_old_enough() {
        let folder = tempfile::tempdir().unwrap();
        let store = Docstore::open(&Location::Sqlite(folder.path().join("test.db")), 1).unwrap();
        store.migrate().await.unwrap();
        let now = Timestamp::from_millis(1_790_000_000_000);
        let id = OrganizationId(Uuid::from_u128(1));
        let organization = Organization {
            id,
            name: "test".to_owned(),
            billed: false,
            created_at: now,
            deleted_at: None,
            removed_at: None,
        };
        let entry =
            audit::subject_entry("test", now, AuditAction::OrganizationCreated, Some(id), id.0, Default::default());
        store.create_organization(organization, None, entry).await.unwrap();
        let search = |number: u128| Search {
            search_id: Uuid::from_u128(number).into(),
            organization_id: id,
            identity: String::new(),
            session_id: Uuid::nil().into(),
            query: String::new(),
            results: Vec::new(),
            created_at: now - Duration::from_secs(number as u64),
            request: None,
            details: None,
        };
        // More than one batch.
        store.record_searches((0..2_500).map(search).collect(), Vec::new()).await.unwrap();
        let retention = Retention { searches: Some(DAY), feedback: Some(DAY), evidence: DAY };
        let find = async |number: u128| store.find_search(id, Uuid::from_u128(number).into()).await.unwrap();
        sweep(&store, now + DAY - Duration::from_secs(2_500), retention).await.unwrap();
        assert!(find(2_499).await.is_some());
        sweep(&store, now + DAY * 2, Retention::default()).await.unwrap();
        assert!(find(2_499).await.is_some(), "kept forever");
        sweep(&store, now + DAY, retention).await.unwrap();
        assert!(find(0).await.is_some() && find(1).await.is_none() && find(2_499).await.is_none());
    }
}
