//! Leases of the runs of this process, renewed together.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::SyncId;
use tokio_util::sync::CancellationToken;

use super::Runner;

/// Runs in progress.
#[derive(Default)]
pub struct Leases(Mutex<HashMap<SyncId, Lease>>);

struct Lease {
    /// Name of this execution of the run.
    owner: String,
    lost: CancellationToken,
}

impl Leases {
    /// Adds a claimed run. Returns the token that is cancelled when its lease is lost, at the latest when this process claims the
    /// run once more.
    pub fn add(&self, sync_id: SyncId, owner: &str) -> CancellationToken {
        let lost = CancellationToken::new();
        let earlier = self.lock().insert(sync_id, Lease { owner: owner.to_owned(), lost: lost.clone() });
        if let Some(earlier) = earlier {
            earlier.lost.cancel();
        }
        lost
    }

    pub fn remove(&self, sync_id: SyncId, owner: &str) {
        let mut leases = self.lock();
        if leases.get(&sync_id).is_some_and(|lease| lease.owner == owner) {
            leases.remove(&sync_id);
        }
    }

    fn held(&self) -> Vec<(SyncId, String)> {
        self.lock().iter().map(|(sync_id, lease)| (*sync_id, lease.owner.clone())).collect()
    }

    fn lose(&self, sync_id: SyncId, owner: &str) {
        if let Some(lease) = self.lock().get(&sync_id).filter(|lease| lease.owner == owner) {
            lease.lost.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SyncId, Lease>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Runner {
    /// Renews the leases of all runs in progress, with one statement, until dropped.
    pub(super) async fn renew_leases(&self) {
        loop {
            tokio::time::sleep(self.options.lease / 3).await;
            let held = self.leases.held();
            if held.is_empty() {
                continue;
            }
            match self.store.extend_run_leases(held.clone(), self.clock().now() + self.options.lease).await {
                Ok(kept) => {
                    for (sync_id, owner) in held.iter().filter(|(sync_id, _)| !kept.contains(sync_id)) {
                        self.leases.lose(*sync_id, owner);
                    }
                }
                // If the failure lasts, other workers take over and a later renewal finds out.
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "renewing the leases of runs failed");
                }
            }
        }
    }
}
