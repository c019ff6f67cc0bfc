//! Threads of a search.

use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;

/// Threads of a search: its own, and for large work those that no other search uses.
pub struct Threads(OwnedSemaphorePermit);

impl Threads {
    /// Creates the threads of a search that has a permit.
    pub fn new(permit: OwnedSemaphorePermit) -> Self {
        Self(permit)
    }

    /// Calls `work` with a number of threads, from 1 to `useful`. Gives the further ones back when it returns.
    pub fn use_up_to<T>(&self, useful: usize, work: impl FnOnce(usize) -> T) -> T {
        let mut idle = Vec::new();
        while idle.len() + 1 < useful
            && let Ok(permit) = Arc::clone(self.0.semaphore()).try_acquire_owned()
        {
            idle.push(permit);
        }
        work(idle.len() + 1)
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::Semaphore;

    use super::*;

    #[test]
    fn only_large_work_uses_idle_threads() {
        let searches = Arc::new(Semaphore::new(4));
        let permit = || Arc::clone(&searches).try_acquire_owned().expect("a permit");
        let (threads, _other_search) = (Threads::new(permit()), permit());
        for (useful, expected) in [(0, 1), (1, 1), (2, 2), (9, 3)] {
            let (used, left) = threads.use_up_to(useful, |threads| (threads, searches.available_permits()));
            assert_eq!((used, left), (expected, 3 - expected), "{useful} are useful");
        }
        assert_eq!(searches.available_permits(), 2);
    }
}
