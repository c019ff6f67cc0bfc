use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use extract::{ExtractError, ExtractErrorKind, ExtractRequest, Extracted};
use tokio::sync::{Notify, Semaphore};

use crate::lanes::Lanes;
use crate::pace::TimeLimits;
use crate::process::{Outcome, Worker};
use crate::spawner::{self, Spawner};
use crate::{Compartment, Extractor, Input, Lane, SandboxReport, Turn, WorkError, WorkerOptions};

/// Documents in progress, far more than there can be.
const MAX_DOCUMENTS: u32 = 1 << 24;

/// Pool of worker processes, started on demand, reused and ended when idle. Cheap to clone; dropping the last clone ends
/// them.
#[derive(Clone)]
pub struct WorkerPool {
    inner: Arc<Inner>,
}

struct Inner {
    options: WorkerOptions,
    spawner: OnceLock<Spawner>,
    lanes: Lanes,
    /// One permit per document in progress: a shutdown waits for all of them.
    documents: Semaphore,
    idle: Mutex<Vec<Worker>>,
    reaper: OnceLock<()>,
}

impl WorkerPool {
    /// Builds an empty pool. Needs no runtime and starts nothing.
    pub fn new(options: WorkerOptions) -> Self {
        let inner = Inner {
            lanes: Lanes::new(&options),
            documents: Semaphore::new(MAX_DOCUMENTS as usize),
            options,
            spawner: OnceLock::new(),
            idle: Mutex::new(Vec::new()),
            reaper: OnceLock::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Starts a worker that reports its protections and ends.
    ///
    /// # Errors
    /// No worker can be started, or the program is none.
    pub async fn sandbox_report(&self) -> Result<SandboxReport, ExtractError> {
        spawner::report(&self.inner.options).await
    }

    /// Waits for a slot in the lane and reads one document. Dropping the future kills the worker.
    ///
    /// A document that computes for longer than the quick time moves to a slow slot. If there is none and others wait, its worker is
    /// killed: a page waits for a slow slot and starts again, a file of a run is postponed.
    ///
    /// # Errors
    /// The reader's failure or the worker's: see [`ExtractErrorKind`]. No slot within the time that a page may wait. No core for the
    /// worker, because of other work. No worker, or no input: see [`WorkError::Unavailable`].
    pub async fn extract(&self, turn: &Turn, request: ExtractRequest, input: Input) -> Result<Extracted, WorkError> {
        let ended = || WorkError::Unavailable("the extraction pool has been shut down".into());
        let _document = self.inner.documents.acquire().await.map_err(|_| ended())?;
        self.start_reaper();
        let slots = self.inner.lanes.slots(turn.lane);
        let organization = turn.organization_id;
        let is_slow = Notify::new();
        if turn.lane != Lane::PostponedRuns {
            let quick = slots.quick(organization).await?;
            tokio::select! {
                biased;
                outcome = self.read(turn, &request, &input, &is_slow) => return outcome,
                () = slots.hold(quick, organization, &is_slow) => {}
            }
            if turn.lane == Lane::Runs {
                return Err(WorkError::Postponed);
            }
        }
        let _slow = slots.slow(organization).await?;
        self.read(turn, &request, &input, &is_slow).await
    }

    /// Reads one document with an idle worker that has read no document of another compartment, or with a new worker.
    ///
    /// If a worker dies that has read other documents before, the document is retried once with a fresh worker: state that
    /// the others left behind may be the cause.
    async fn read(
        &self,
        turn: &Turn,
        request: &ExtractRequest,
        input: &Input,
        is_slow: &Notify,
    ) -> Result<Extracted, WorkError> {
        let (worker, fresh) = match self.take_idle(&turn.compartment) {
            Some(worker) => (worker, false),
            None => {
                self.end_surplus().await;
                (self.start_worker(&turn.compartment).await?, true)
            }
        };
        let limits = TimeLimits::new(&self.inner.options, turn);
        let error = match self.read_with(worker, request, input, &limits, is_slow).await {
            Ok(answer) => return answer,
            Err(lost) => lost,
        };
        if fresh || error.kind == ExtractErrorKind::TimedOut {
            return Err(error.into());
        }
        let worker = self.start_worker(&turn.compartment).await?;
        self.read_with(worker, request, input, &limits, is_slow).await.unwrap_or_else(|error| Err(error.into()))
    }

    /// Drains the pool: waits for documents in progress, rejects further ones and ends all workers.
    pub async fn shutdown(&self) {
        let running = self.inner.documents.acquire_many(MAX_DOCUMENTS).await;
        self.inner.documents.close();
        drop(running);
        let idle = std::mem::take(&mut *self.idle());
        for worker in idle {
            worker.end().await;
        }
    }

    /// Returns the number of idle worker processes.
    pub fn idle_workers(&self) -> usize {
        self.idle().len()
    }

    /// Reads one document. The outer `Err` is the cause of a worker's loss.
    async fn read_with(
        &self,
        mut worker: Worker,
        request: &ExtractRequest,
        input: &Input,
        limits: &TimeLimits,
        is_slow: &Notify,
    ) -> Result<Result<Extracted, WorkError>, ExtractError> {
        let options = &self.inner.options;
        let outcome = worker.read(request, input, limits, options.max_output_bytes, is_slow).await;
        match outcome {
            Outcome::Answered(answer) => {
                let worn = worker.slowed || worker.files >= options.files_per_worker;
                // The worker reported that it has no memory for the input, and has ended.
                let ended = matches!(&answer, Err(error) if error.kind == ExtractErrorKind::TooLarge);
                if worn || ended {
                    worker.end().await;
                } else {
                    worker.idle_since = Instant::now();
                    self.idle().push(worker);
                }
                Ok(answer.map_err(WorkError::from))
            }
            Outcome::Starved => {
                worker.end().await;
                tracing::warn!(kind = request.kind.as_str(), "extraction worker starved: other work had the cores");
                Ok(Err(WorkError::Overloaded { retry_after: options.max_page_wait }))
            }
            Outcome::Lost(error) => {
                worker.end().await;
                tracing::warn!(
                    kind = request.kind.as_str(),
                    reason = error.kind.as_str(),
                    detail = error.message,
                    "extraction worker lost"
                );
                Err(error)
            }
            Outcome::NotSent(error) => {
                worker.end().await;
                Ok(Err(error))
            }
        }
    }

    /// Returns the most recently used idle worker of the compartment that still runs, so that the others reach the idle
    /// timeout.
    fn take_idle(&self, compartment: &Compartment) -> Option<Worker> {
        let mut idle = self.idle();
        idle.retain_mut(Worker::is_alive);
        let last = idle.iter().rposition(|worker| worker.compartment == *compartment)?;
        Some(idle.remove(last))
    }

    /// Ends the longest idle workers, so that busy and idle ones together are not more than the quick workers of a lane. More of
    /// them exist only while they are busy.
    async fn end_surplus(&self) {
        let surplus: Vec<Worker> = {
            let mut idle = self.idle();
            let kept = self.inner.options.workers.saturating_sub(self.inner.lanes.busy());
            let count = idle.len().saturating_sub(kept);
            idle.drain(..count).collect()
        };
        for worker in surplus {
            worker.end().await;
        }
    }

    async fn start_worker(&self, compartment: &Compartment) -> Result<Worker, WorkError> {
        let started = match self.spawner() {
            Ok(spawner) => Worker::start(spawner, compartment.clone()).await,
            Err(error) => Err(error),
        };
        started.inspect_err(|error| {
            tracing::error!(error = error as &dyn std::error::Error, "starting an extraction worker failed");
        })
    }

    fn spawner(&self) -> Result<&Spawner, WorkError> {
        if let Some(spawner) = self.inner.spawner.get() {
            return Ok(spawner);
        }
        let started = Spawner::start(&self.inner.options)
            .map_err(|error| WorkError::Unavailable(format!("starting workers: {error}")))?;
        // If two start concurrently, the second ends unused.
        Ok(self.inner.spawner.get_or_init(|| started))
    }

    /// Starts the reaper with the first document, since a pool may be built outside a runtime.
    fn start_reaper(&self) {
        self.inner.reaper.get_or_init(|| {
            let inner = Arc::downgrade(&self.inner);
            let every = (self.inner.options.idle / 2).clamp(Duration::from_millis(50), Duration::from_secs(10));
            tokio::spawn(reap(inner, every));
        });
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Worker>> {
        self.inner.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends workers that exceed the idle timeout, as long as the pool exists.
async fn reap(inner: Weak<Inner>, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        let Some(inner) = inner.upgrade() else { return };
        let expired: Vec<Worker> = {
            let mut idle = inner.idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.extract_if(.., |worker| worker.idle_since.elapsed() >= inner.options.idle || !worker.is_alive())
                .collect()
        };
        drop(inner);
        for worker in expired {
            worker.end().await;
        }
    }
}

#[async_trait]
impl Extractor for WorkerPool {
    async fn extract(&self, turn: &Turn, request: ExtractRequest, input: Input) -> Result<Extracted, WorkError> {
        WorkerPool::extract(self, turn, request, input).await
    }
}
