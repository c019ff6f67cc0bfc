//! Threads that compute.

use std::sync::Arc;

use rayon::{ThreadPool, ThreadPoolBuilder};
use tokio::runtime::Handle;

/// Niceness of work that may take seconds, from 0 to 19: it gets a tenth of a core that other work wants.
pub const BACKGROUND_NICENESS: i32 = 10;

#[derive(Clone)]
pub enum Threads {
    /// Blocking threads of a runtime.
    Runtime(Handle),
    Background(Arc<ThreadPool>),
}

impl Threads {
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn of_runtime() -> Self {
        Self::Runtime(Handle::current())
    }

    /// Starts `count` threads of low priority. If the system starts no more threads, those of the current runtime compute.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn background(count: usize) -> Self {
        let pool = ThreadPoolBuilder::new()
            .num_threads(count.max(1))
            .thread_name(|number| format!("background-{number}"))
            .start_handler(|_| lower_priority())
            // The caller notices: its result is missing.
            .panic_handler(|_| ())
            .build();
        pool.map_or_else(|_| Self::of_runtime(), |pool| Self::Background(Arc::new(pool)))
    }

    pub fn spawn(&self, work: impl FnOnce() + Send + 'static) {
        match self {
            Self::Runtime(runtime) => drop(runtime.spawn_blocking(work)),
            Self::Background(pool) => pool.spawn_fifo(work),
        }
    }
}

/// Lowers the priority of the current thread: on Linux, niceness is of the thread.
#[cfg(target_os = "linux")]
fn lower_priority() {
    // Without it the thread only competes with the others.
    let _ = rustix::process::nice(BACKGROUND_NICENESS);
}

#[cfg(not(target_os = "linux"))]
fn lower_priority() {}
