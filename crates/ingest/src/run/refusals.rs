//! Failures of single objects, as opposed to outages of storage.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use blobs::BlobErrorKind;
use tokio::time::Instant;

/// Share of the time for retries after which an object that storage does not deliver is given up although storage responds: 1 in this
/// number. A run with many such objects would otherwise take days.
const PATIENCE_SHARE: u32 = 10;

/// Failed attempts to read one object.
pub struct Refusals {
    patience: Duration,
    /// Time of the first failure while storage responded, since the last outage.
    since: Mutex<Option<Instant>>,
}

impl Refusals {
    pub fn new(retry_timeout: Duration) -> Self {
        Self { patience: retry_timeout / PATIENCE_SHARE, since: Mutex::new(None) }
    }

    /// Counts a failed attempt, after which storage responds or not. Returns true if it is a failure of this object that a retry does not
    /// help. `Unavailable` is retried for a while, which begins anew with each outage: an attempt can fail right before its end.
    pub fn is_of_object(&self, kind: BlobErrorKind, storage_responds: bool) -> bool {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        if !storage_responds {
            *since = None;
            return false;
        }
        let waited = since.get_or_insert_with(Instant::now).elapsed();
        kind != BlobErrorKind::Unavailable || waited >= self.patience
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn unavailable_object_is_retried_for_a_while() {
        let refusals = Refusals::new(Duration::from_secs(100));
        let is_given_up = |storage_responds| refusals.is_of_object(BlobErrorKind::Unavailable, storage_responds);
        assert!(!is_given_up(true));
        tokio::time::advance(Duration::from_secs(9)).await;
        assert!(!is_given_up(true));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(is_given_up(true));
        // An outage of any length says nothing about the object, nor does the attempt that it ended.
        assert!(!is_given_up(false) && !is_given_up(true));
        tokio::time::advance(Duration::from_secs(10)).await;
        assert!(is_given_up(true));
    }

    #[tokio::test(start_paused = true)]
    async fn object_that_no_retry_delivers_is_given_up_at_once() {
        for kind in [BlobErrorKind::Denied, BlobErrorKind::Failed] {
            let refusals = Refusals::new(Duration::from_secs(100));
            assert!(!refusals.is_of_object(kind, false), "an outage or a wrong key");
            assert!(refusals.is_of_object(kind, true));
        }
    }
}
