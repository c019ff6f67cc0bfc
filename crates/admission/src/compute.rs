use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::OrganizationId;
use tokio::sync::oneshot;

use crate::threads::Threads;
use crate::{FairSemaphore, Limits};

/// Failure of a computation: it panicked, or the process is shutting down.
#[derive(Debug, thiserror::Error)]
#[error("a computation ended early")]
pub struct ComputeError(#[from] oneshot::error::RecvError);

/// Computation on a bounded number of threads, organizations in turn. Cheap to clone.
///
/// A call occupies its thread to its end, so work of more than some 10 ms is cut into several calls.
#[derive(Clone)]
pub struct Compute {
    permits: FairSemaphore,
    threads: Threads,
}

impl Compute {
    /// Computes on at most `threads` blocking threads of the current runtime.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn interactive(threads: usize) -> Self {
        Self::on(Threads::of_runtime(), threads)
    }

    /// Computes on `threads` threads of its own, which the operating system runs while others do not need the cores.
    pub fn background(threads: usize) -> Self {
        Self::on(Threads::background(threads), threads)
    }

    fn on(threads: Threads, count: usize) -> Self {
        let permits = u32::try_from(count).unwrap_or(u32::MAX);
        // Callers were admitted before, so the queue is short and refuses nothing.
        let limits = Limits::shared(permits, usize::MAX, Duration::MAX);
        Self { permits: FairSemaphore::new(limits), threads }
    }

    /// Runs `work`. Dropping the future stops the work at its next check of [`Stop`], or before it has begun.
    ///
    /// # Errors
    /// The work panicked, or the process is shutting down.
    pub async fn run<T: Send + 'static>(
        &self,
        organization: OrganizationId,
        work: impl FnOnce(&Stop) -> T + Send + 'static,
    ) -> Result<T, ComputeError> {
        let permit = self.permits.wait(organization, 1).await;
        let stop = Stop::default();
        let on_drop = StopOnDrop(stop.clone());
        let (finish, finished) = oneshot::channel();
        self.threads.spawn(move || {
            let result = work(&stop);
            // Held by the work itself: a dropped future must not free a thread that still computes.
            drop(permit);
            // A caller that left needs no result.
            let _ = finish.send(result);
        });
        let result = finished.await;
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
