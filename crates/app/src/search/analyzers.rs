//! Analyzers of each thread that computes.

use std::cell::RefCell;

use retrieval_core::analysis::Analyzers;

thread_local! {
    static ANALYZERS: RefCell<Analyzers> = RefCell::default();
}

/// Calls `work` with the analyzers of this thread, which remember stems of earlier texts. `work` must not call this again.
pub fn with_analyzers<T>(work: impl FnOnce(&mut Analyzers) -> T) -> T {
    ANALYZERS.with_borrow_mut(work)
}
