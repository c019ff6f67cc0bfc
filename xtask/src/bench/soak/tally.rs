//! Work that was done, and what failed of it.

use crate::bench::samples::Samples;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Kind of work, counted apart.
#[derive(Clone, Copy)]
pub enum Kind {
    Search,
    Read,
    Upload,
    Run,
    Crawl,
}

pub const KINDS: [(Kind, &str); 5] = [
    (Kind::Search, "searches"),
    (Kind::Read, "reads"),
    (Kind::Upload, "uploads"),
    (Kind::Run, "indexing runs"),
    (Kind::Crawl, "crawls"),
];

#[derive(Default)]
pub struct Tally {
    done: [AtomicUsize; KINDS.len()],
    failed: AtomicUsize,
    first_failure: Mutex<Option<String>>,
    searches: Mutex<Samples>,
}

impl Tally {
    /// Counts work that was due at `due` and has ended now.
    pub fn record(&self, kind: Kind, due: Instant, outcome: anyhow::Result<()>) {
        match outcome {
            Ok(()) => {
                self.done[kind as usize].fetch_add(1, Ordering::Relaxed);
                if let Kind::Search = kind {
                    self.searches.lock().unwrap_or_else(PoisonError::into_inner).push(due.elapsed());
                }
            }
            Err(error) => {
                self.failed.fetch_add(1, Ordering::Relaxed);
                let mut first = self.first_failure.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert_with(|| format!("{error:#}"));
            }
        }
    }

    pub fn done(&self, kind: Kind) -> usize {
        self.done[kind as usize].load(Ordering::Relaxed)
    }

    pub fn failed(&self) -> usize {
        self.failed.load(Ordering::Relaxed)
    }

    pub fn first_failure(&self) -> Option<String> {
        self.first_failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the durations of searches.
    pub fn into_searches(self) -> Samples {
        self.searches.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
