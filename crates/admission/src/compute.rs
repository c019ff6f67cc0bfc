use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::OrganizationId;
use tokio::runtime::Handle;
use tokio::task::JoinError;

use crate::{FairSemaphore, Limits};

/// Failure of a computation: it panicked, or the runtime is shutting down.
#[derive(Debug, thiserror::Error)]
#[error("a computation ended early")]
pub struct ComputeError(#[from] JoinError);

/// Computation on the blocking threads of a runtime: bounded, organizations in turn. Cheap to clone.
///
/// A call occupies its thread to its end, so work of more than some 10 ms is cut into several calls.
#[derive(Clone)]
pub struct Compute {
    threads: FairSemaphore,
    runtime: Handle,
}

impl Compute {
    /// Computes on at most `threads` threads of the current runtime.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn new(threads: usize) -> Self {
        let threads = u32::try_from(threads).unwrap_or(u32::MAX);
        // Callers were admitted before, so the queue is short and refuses nothing.
        let limits = Limits::shared(threads, usize::MAX, Duration::MAX);
        Self { threads: FairSemaphore::new(limits), runtime: Handle::current() }
    }

    /// Runs `work`. Dropping the future stops the work at its next check of [`Stop`], or before it has begun.
    ///
    /// # Errors
    /// The work panicked, or the runtime is shutting down.
    pub async fn run<T: Send + 'static>(
        &self,
        organization: OrganizationId,
        work: impl FnOnce(&Stop) -> T + Send + 'static,
    ) -> Result<T, ComputeError> {
        let permit = self.threads.wait(organization, 1).await;
        let stop = Stop::default();
        let on_drop = StopOnDrop(stop.clone());
        let working = self.runtime.spawn_blocking(move || {
            // Held by the work itself: a dropped future must not free a thread that still computes.
            let _permit = permit;
            work(&stop)
        });
        let result = working.await;
        drop(on_drop);
        Ok(result?)
    }
}

/// Flag that the result of a computation is no longer needed.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Returns a flag that is never set, for callers outside of [`Compute`].
    pub fn never() -> Self {
        Self::default()
    }

    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}
