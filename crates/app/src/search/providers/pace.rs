//! Pace of requests to a provider.

use std::time::Duration;

use admission::{FairSemaphore, Limits};
use model::OrganizationId;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};

/// Waiting requests of one organization.
const MAX_WAITING: usize = 256;

/// Least time between two requests. Organizations take turns.
pub struct Pace {
    interval: Duration,
    turns: FairSemaphore,
    /// Time of the next request.
    next: Mutex<Instant>,
}

impl Pace {
    pub fn new(limit_rps: u32, max_wait: Duration) -> Self {
        Self {
            interval: Duration::from_secs(1) / limit_rps.max(1),
            turns: FairSemaphore::new(Limits::shared(1, MAX_WAITING, max_wait)),
            next: Mutex::new(Instant::now()),
        }
    }

    /// Waits for the time of a request. Returns false if that is after `until`.
    pub async fn turn(&self, organization_id: OrganizationId, until: Instant) -> bool {
        let left = until.saturating_duration_since(Instant::now());
        let Ok(_turn) = self.turns.acquire_within(organization_id, 1, left).await else { return false };
        let mut next = self.next.lock().await;
        let at = (*next).max(Instant::now());
        if at > until {
            return false;
        }
        sleep_until(at).await;
        *next = at + self.interval;
        true
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn requests_keep_their_distance() {
        let pace = Pace::new(2, Duration::from_secs(10));
        let organization_id = OrganizationId(Uuid::nil());
        let (started, soon) = (Instant::now(), Instant::now() + Duration::from_secs(10));
        for _ in 0..3 {
            assert!(pace.turn(organization_id, soon).await);
        }
        assert_eq!(started.elapsed().as_millis() / 10, 100, "two intervals");
        assert!(!pace.turn(organization_id, Instant::now() + Duration::from_millis(100)).await, "later than asked for");
        assert!(pace.turn(organization_id, Instant::now() + Duration::from_secs(1)).await, "no time was lost");
    }
}
