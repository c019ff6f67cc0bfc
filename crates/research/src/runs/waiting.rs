//! Limit of the requests of one organization that wait for a run. They hold a connection and no permit.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::OrganizationId;

/// Waiting requests of this process.
pub struct Waiting {
    per_organization: usize,
    counts: Mutex<HashMap<OrganizationId, usize>>,
}

/// Place of a waiting request.
pub struct Place {
    waiting: Arc<Waiting>,
    organization_id: OrganizationId,
}

impl Waiting {
    pub fn new(per_organization: usize) -> Self {
        Self { per_organization, counts: Mutex::default() }
    }

    /// Returns a place, or `None` if the organization has none left.
    pub fn enter(self: &Arc<Self>, organization_id: OrganizationId) -> Option<Place> {
        let mut counts = self.lock();
        let count = counts.entry(organization_id).or_default();
        if *count >= self.per_organization {
            return None;
        }
        *count += 1;
        Some(Place { waiting: Arc::clone(self), organization_id })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<OrganizationId, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.waiting.lock();
        if let Some(count) = counts.get_mut(&self.organization_id) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.organization_id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn places_of_one_organization_are_limited() {
        let waiting = Arc::new(Waiting::new(2));
        let [ours, theirs] = [1, 2].map(|number| OrganizationId(Uuid::from_u128(number)));
        let held = (waiting.enter(ours), waiting.enter(ours));
        assert!(waiting.enter(ours).is_none() && waiting.enter(theirs).is_some());
        drop(held);
        assert!(waiting.enter(ours).is_some());
        assert!(waiting.lock().is_empty());
    }
}
