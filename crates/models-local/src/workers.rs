//! Threads for computations, with queries first.

use std::collections::VecDeque;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use models::embedding::TextKind;

/// Maximum number of threads unless the options ask for more. Searches and indexing need the cores as well.
const MAX_THREADS: usize = 8;

type Job = Box<dyn FnOnce() + Send>;

/// Threads that live as long as this value. Jobs for documents use at most half of them, so a query waits for queries only.
pub struct Workers {
    shared: Arc<Shared>,
}

struct Shared {
    queues: Mutex<Queues>,
    changed: Condvar,
}

struct Queues {
    queries: VecDeque<Job>,
    documents: VecDeque<Job>,
    /// Threads that may begin a job for documents.
    free_for_documents: usize,
    is_closed: bool,
}

impl Workers {
    /// Starts the threads; 0 for one per core.
    pub fn start(threads: usize) -> std::io::Result<Self> {
        let cores = thread::available_parallelism().map_or(2, NonZero::get);
        let threads = if threads > 0 { threads } else { cores.min(MAX_THREADS) }.max(2);
        let queues = Queues {
            queries: VecDeque::new(),
            documents: VecDeque::new(),
            free_for_documents: threads / 2,
            is_closed: false,
        };
        let workers = Self { shared: Arc::new(Shared { queues: Mutex::new(queues), changed: Condvar::new() }) };
        for number in 0..threads {
            let shared = Arc::clone(&workers.shared);
            thread::Builder::new().name(format!("embed-{number}")).spawn(move || work(&shared))?;
        }
        Ok(workers)
    }

    /// Adds a job to the queue of its kind.
    pub fn submit(&self, kind: TextKind, job: impl FnOnce() + Send + 'static) {
        let mut queues = self.shared.lock();
        match kind {
            TextKind::Query => queues.queries.push_back(Box::new(job)),
            TextKind::Document => queues.documents.push_back(Box::new(job)),
        }
        drop(queues);
        self.shared.changed.notify_one();
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a job; `None` at the end. Jobs in the queues are dropped then, which tells those who wait for them.
    fn next(&self) -> Option<(TextKind, Job)> {
        let mut queues = self.lock();
        while !queues.is_closed {
            if let Some(job) = queues.queries.pop_front() {
                return Some((TextKind::Query, job));
            }
            if queues.free_for_documents > 0
                && let Some(job) = queues.documents.pop_front()
            {
                queues.free_for_documents -= 1;
                return Some((TextKind::Document, job));
            }
            queues = self.changed.wait(queues).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    fn ended(&self, kind: TextKind) {
        if kind == TextKind::Document {
            self.lock().free_for_documents += 1;
            self.changed.notify_one();
        }
    }
}

fn work(shared: &Shared) {
    // The library divides its loops over the threads of the current pool, which is this thread alone. Otherwise one text would
    // occupy all cores.
    let _pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    while let Some((kind, job)) = shared.next() {
        // A panic of a library ends the job, and its result is missing.
        let _ = catch_unwind(AssertUnwindSafe(job));
        shared.ended(kind);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn queries_pass_documents() {
        let workers = Workers::start(2).expect("threads");
        let (release, gate) = mpsc::channel::<()>();
        let (done, finished) = mpsc::channel();
        let blocked = done.clone();
        workers.submit(TextKind::Document, move || {
            let _ = blocked.send("begun");
            let _ = gate.recv();
            let _ = blocked.send("document");
        });
        // Until then both threads are free for queries.
        assert_eq!(finished.recv(), Ok("begun"));
        for name in ["query 1", "query 2"] {
            let done = done.clone();
            workers.submit(TextKind::Document, || {});
            workers.submit(TextKind::Query, move || {
                let _ = done.send(name);
            });
        }
        assert_eq!(finished.recv(), Ok("query 1"));
        assert_eq!(finished.recv(), Ok("query 2"));
        release.send(()).expect("the job");
        assert_eq!(finished.recv(), Ok("document"));
    }

    #[test]
    fn panics_end_their_job_alone() {
        let workers = Workers::start(2).expect("threads");
        let (done, finished) = mpsc::channel();
        for kind in [TextKind::Query, TextKind::Document] {
            for _ in 0..3 {
                workers.submit(kind, || std::panic::resume_unwind(Box::new("a fault")));
            }
            let done = done.clone();
            workers.submit(kind, move || {
                let _ = done.send(());
            });
            assert_eq!(finished.recv(), Ok(()));
        }
    }

    #[test]
    fn jobs_run_in_a_pool_of_one_thread() {
        let workers = Workers::start(2).expect("threads");
        let (done, finished) = mpsc::channel();
        workers.submit(TextKind::Query, move || {
            let _ = done.send(rayon::current_num_threads());
        });
        assert_eq!(finished.recv(), Ok(1));
    }

    #[test]
    fn waiting_jobs_are_dropped_at_the_end() {
        let workers = Workers::start(2).expect("threads");
        let (release, gate) = mpsc::channel::<()>();
        let (done, finished) = mpsc::channel::<()>();
        workers.submit(TextKind::Document, move || {
            let _ = gate.recv();
        });
        workers.submit(TextKind::Document, move || {
            let _ = done.send(());
        });
        drop(workers);
        drop(release);
        assert!(finished.recv().is_err());
    }
}
