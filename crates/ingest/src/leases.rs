//! Leases of the runs that this process executes, renewed together.

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use docstore::StoreError;
use tokio_util::sync::CancellationToken;

/// Runs in progress, by id.
pub struct Leases<K>(Mutex<HashMap<K, Lease>>);

struct Lease {
    /// Name of this execution of the run.
    owner: String,
    lost: CancellationToken,
}

impl<K> Default for Leases<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Copy + Eq + Hash> Leases<K> {
    /// Adds a claimed run. Returns the token that is cancelled when its lease is lost, at the latest when this process claims the
    /// run once more.
    pub fn add(&self, id: K, owner: &str) -> CancellationToken {
        let lost = CancellationToken::new();
        let earlier = self.lock().insert(id, Lease { owner: owner.to_owned(), lost: lost.clone() });
        if let Some(earlier) = earlier {
            earlier.lost.cancel();
        }
        lost
    }

    pub fn remove(&self, id: K, owner: &str) {
        let mut leases = self.lock();
        if leases.get(&id).is_some_and(|lease| lease.owner == owner) {
            leases.remove(&id);
        }
    }

    /// Returns the runs in progress.
    pub fn ids(&self) -> Vec<K> {
        self.lock().keys().copied().collect()
    }

    /// Stops the execution of a run, if it is in progress here.
    pub fn lose(&self, id: K) {
        if let Some(lease) = self.lock().get(&id) {
            lease.lost.cancel();
        }
    }

    /// Renews all leases at every interval, with one call of `extend`, until dropped. `extend` returns the runs that are still
    /// leased by their owners; the others stop. `runs` names them in the log.
    pub async fn renew<F>(&self, interval: Duration, runs: &'static str, extend: impl Fn(Vec<(K, String)>) -> F)
    where
        F: Future<Output = Result<Vec<K>, StoreError>>,
    {
        loop {
            tokio::time::sleep(interval).await;
            let held = self.held();
            if held.is_empty() {
                continue;
            }
            match extend(held.clone()).await {
                Ok(kept) => {
                    for (id, owner) in held.iter().filter(|(id, _)| !kept.contains(id)) {
                        self.lose_of(*id, owner);
                    }
                }
                // If the failure lasts, other workers take over and a later renewal finds out.
                Err(error) => {
                    tracing::warn!(
                        runs,
                        error = &error as &dyn std::error::Error,
                        "renewing the leases of runs failed"
                    );
                }
            }
        }
    }

    /// Stops this execution of a run.
    fn lose_of(&self, id: K, owner: &str) {
        if let Some(lease) = self.lock().get(&id).filter(|lease| lease.owner == owner) {
            lease.lost.cancel();
        }
    }

    fn held(&self) -> Vec<(K, String)> {
        self.lock().iter().map(|(id, lease)| (*id, lease.owner.clone())).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, Lease>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
