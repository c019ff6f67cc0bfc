//! Free space of the disk that holds the data.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Age until which the outcome of a check is reused.
const CACHE_TTL: Duration = Duration::from_secs(2);

/// Returns a remark, or the reason if too little space is free.
pub type SpaceCheck = Arc<dyn Fn() -> Result<Option<String>, String> + Send + Sync>;

/// Guard of work that needs disk space. Cheap to ask: the check runs every other second at most.
pub struct FreeSpace {
    check: SpaceCheck,
    /// Time and outcome of the last check.
    last: Mutex<Option<(Instant, bool)>>,
}

impl FreeSpace {
    pub fn new(check: SpaceCheck) -> Self {
        Self { check, last: Mutex::new(None) }
    }

    /// Returns a guard of a disk that is never full.
    pub fn unlimited() -> Self {
        Self::new(Arc::new(|| Ok(None)))
    }

    /// Returns true if too little space is free for work that needs it.
    pub fn is_low(&self) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, is_low)) = *last
            && at.elapsed() < CACHE_TTL
        {
            return is_low;
        }
        let outcome = (self.check)();
        let is_low = outcome.is_err();
        if let Err(reason) = &outcome
            && !last.is_some_and(|(_, was_low)| was_low)
        {
            tracing::error!(%reason, "uploads, imports, indexing and new research runs are paused");
        }
        *last = Some((Instant::now(), is_low));
        is_low
    }
}
