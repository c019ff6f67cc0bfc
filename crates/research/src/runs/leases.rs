//! Runs that this process executes.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::ResearchId;
use tokio_util::sync::CancellationToken;

/// Leases of this process, renewed together.
#[derive(Default)]
pub struct Leases(Mutex<HashMap<ResearchId, Lease>>);

struct Lease {
    /// Name of this execution of the run.
    owner: String,
    lost: CancellationToken,
}

impl Leases {
    /// Adds a claimed run. Returns the token that is cancelled when its lease is lost, at the latest when this process claims the
    /// run once more.
    pub fn add(&self, research_id: ResearchId, owner: &str) -> CancellationToken {
        let lost = CancellationToken::new();
        let earlier = self.lock().insert(research_id, Lease { owner: owner.to_owned(), lost: lost.clone() });
        if let Some(earlier) = earlier {
            earlier.lost.cancel();
        }
        lost
    }

    pub fn remove(&self, research_id: ResearchId, owner: &str) {
        let mut leases = self.lock();
        if leases.get(&research_id).is_some_and(|lease| lease.owner == owner) {
            leases.remove(&research_id);
        }
    }

    /// Stops the execution of a run, if it is in progress here.
    pub fn lose(&self, research_id: ResearchId) {
        if let Some(lease) = self.lock().get(&research_id) {
            lease.lost.cancel();
        }
    }

    /// Stops this execution of a run.
    pub fn lose_of(&self, research_id: ResearchId, owner: &str) {
        if let Some(lease) = self.lock().get(&research_id).filter(|lease| lease.owner == owner) {
            lease.lost.cancel();
        }
    }

    /// Returns the runs in progress with their owners.
    pub fn held(&self) -> Vec<(ResearchId, String)> {
        self.lock().iter().map(|(research_id, lease)| (*research_id, lease.owner.clone())).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ResearchId, Lease>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
