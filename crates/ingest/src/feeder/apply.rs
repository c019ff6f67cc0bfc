//! Application of batches to the engine.

use std::time::Duration;

use engine::{Change, EngineErrorKind};
use model::IndexName;

use super::batch::Batch;
use super::{FeedError, Feeder, Ownership};

const LEASE: Duration = Duration::from_secs(15);
/// Interval of lease renewals while the engine works.
const HEARTBEAT: Duration = Duration::from_secs(5);

impl Feeder {
    /// Applies a batch and completes its outbox entries.
    pub(super) async fn flush(&self, index: IndexName, batch: Batch) -> Result<(), FeedError> {
        let changes = batch.changes.len();
        self.apply(index, batch.changes).await?;
        metrics::counter!("retrieval_indexed_documents_total", "index" => index.as_str()).increment(changes as u64);
        self.store.complete_outbox(batch.entries).await?;
        Ok(())
    }

    /// Applies changes. A rejected batch is bisected down to the document at fault, which is logged and skipped so that the
    /// others do not wait for it.
    async fn apply(&self, index: IndexName, changes: Vec<Change>) -> Result<(), FeedError> {
        let mut parts = vec![changes];
        while let Some(mut changes) = parts.pop() {
            if changes.is_empty() {
                continue;
            }
            match self.apply_with_lease(index, changes.clone()).await {
                Ok(()) => {}
                Err(FeedError::Engine(error)) if error.kind == EngineErrorKind::Rejected && changes.len() == 1 => {
                    tracing::error!(
                        index = index.as_str(),
                        doc_id = %changes[0].doc_id(),
                        error = &error as &dyn std::error::Error,
                        "the index rejected a document"
                    );
                }
                Err(FeedError::Engine(error)) if error.kind == EngineErrorKind::Rejected => {
                    let second = changes.split_off(changes.len() / 2);
                    parts.push(second);
                    parts.push(changes);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Applies changes while renewing the lease, so that no other process applies older content afterwards.
    async fn apply_with_lease(&self, index: IndexName, changes: Vec<Change>) -> Result<(), FeedError> {
        let applying = self.engine.apply(index, changes);
        if self.ownership == Ownership::Exclusive {
            return Ok(applying.await?);
        }
        tokio::pin!(applying);
        loop {
            if !self.acquire_lease(index).await? {
                return Err(FeedError::LeaseLost(index));
            }
            tokio::select! {
                outcome = &mut applying => return Ok(outcome?),
                () = tokio::time::sleep(HEARTBEAT) => {}
            }
        }
    }

    /// Acquires or renews the lease of an index. Returns false if another process holds it.
    pub(super) async fn acquire_lease(&self, index: IndexName) -> Result<bool, FeedError> {
        if self.ownership == Ownership::Exclusive {
            return Ok(true);
        }
        let now = self.clock.now();
        Ok(self.store.acquire_lease(lease_name(index), self.owner.clone(), now, now + LEASE).await?)
    }

    /// Releases the leases of all indexes, so that other processes need not wait for their expiry.
    pub async fn release_leases(&self) -> Result<(), FeedError> {
        if self.ownership == Ownership::Exclusive {
            return Ok(());
        }
        for index in IndexName::ALL {
            self.store.release_lease(lease_name(*index), self.owner.clone()).await?;
        }
        Ok(())
    }
}

fn lease_name(index: IndexName) -> String {
    format!("feeder:{index}")
}
