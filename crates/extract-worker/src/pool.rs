use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use extract::{ExtractError, ExtractErrorKind, ExtractRequest, Extracted};
use tokio::sync::Semaphore;

use crate::process::{Outcome, Worker};
use crate::spawner::Spawner;
use crate::{Extractor, Input, WorkerOptions};

/// Pool of worker processes, started on demand, reused and ended when idle. Cheap to clone; dropping the last clone ends
/// them.
#[derive(Clone)]
pub struct WorkerPool {
    inner: Arc<Inner>,
}

struct Inner {
    options: WorkerOptions,
    spawner: OnceLock<Spawner>,
    /// One permit per worker.
    permits: Semaphore,
    idle: Mutex<Vec<Worker>>,
    reaper: OnceLock<()>,
}

impl WorkerPool {
    /// Builds an empty pool. Needs no runtime and starts nothing.
    pub fn new(options: WorkerOptions) -> Self {
        let permits = Semaphore::new(options.workers.max(1));
        let inner =
            Inner { options, spawner: OnceLock::new(), permits, idle: Mutex::new(Vec::new()), reaper: OnceLock::new() };
        Self { inner: Arc::new(inner) }
    }

    /// Waits for a free worker and reads one document with it. Dropping the future kills the worker.
    ///
    /// If a worker dies that has read other documents before, the document is retried once with a fresh worker: state that
    /// the others left behind may be the cause.
    ///
    /// # Errors
    /// The reader's failure or the worker's: see [`ExtractErrorKind`].
    pub async fn extract(&self, request: ExtractRequest, input: Input) -> Result<Extracted, ExtractError> {
        let ended = || ExtractError::new(ExtractErrorKind::Crashed, "the extraction pool has been shut down");
        let _permit = self.inner.permits.acquire().await.map_err(|_| ended())?;
        self.start_reaper();
        let (worker, fresh) = match self.take_idle() {
            Some(worker) => (worker, false),
            None => (self.start_worker().await?, true),
        };
        let (error, lost) = match self.read_with(worker, &request, &input).await {
            Ok(answer) => return answer,
            Err(lost) => lost,
        };
        if fresh || !lost || error.kind == ExtractErrorKind::TimedOut {
            return Err(error);
        }
        let worker = self.start_worker().await?;
        self.read_with(worker, &request, &input).await.unwrap_or_else(|(error, _)| Err(error))
    }

    /// Drains the pool: waits for documents in progress, rejects further ones and ends all workers.
    pub async fn shutdown(&self) {
        let all = u32::try_from(self.inner.options.workers.max(1)).unwrap_or(u32::MAX);
        let running = self.inner.permits.acquire_many(all).await;
        self.inner.permits.close();
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

    /// Reads one document. `Err` contains the error and `true` if the worker was lost.
    async fn read_with(
        &self,
        mut worker: Worker,
        request: &ExtractRequest,
        input: &Input,
    ) -> Result<Result<Extracted, ExtractError>, (ExtractError, bool)> {
        let options = &self.inner.options;
        let outcome = worker.read(request, input, options.wall, options.max_output_bytes).await;
        match outcome {
            Outcome::Answered(answer) => {
                let worn = worker.files >= options.files_per_worker;
                // The worker reported that it has no memory for the input, and has ended.
                let ended = matches!(&answer, Err(error) if error.kind == ExtractErrorKind::TooLarge);
                if worn || ended {
                    worker.end().await;
                } else {
                    worker.idle_since = Instant::now();
                    self.idle().push(worker);
                }
                Ok(answer)
            }
            Outcome::Lost(error) => {
                worker.end().await;
                tracing::warn!(kind = request.kind.as_str(), reason = error.kind.as_str(), message = %error.message, "extraction worker lost");
                Err((error, true))
            }
            Outcome::NoInput(error) => {
                worker.end().await;
                Err((error, false))
            }
        }
    }

    /// Returns the most recently used idle worker that still runs, so that the others reach the idle timeout.
    fn take_idle(&self) -> Option<Worker> {
        let mut idle = self.idle();
        while let Some(mut worker) = idle.pop() {
            if worker.is_alive() {
                return Some(worker);
            }
        }
        None
    }

    async fn start_worker(&self) -> Result<Worker, ExtractError> {
        let spawner = match self.inner.spawner.get() {
            Some(spawner) => spawner,
            None => {
                let started = Spawner::start(&self.inner.options).map_err(|error| {
                    ExtractError::new(ExtractErrorKind::Crashed, format!("no extraction worker: {error}"))
                })?;
                // If two start concurrently, the second ends unused.
                let _ = self.inner.spawner.set(started);
                self.inner.spawner.get().ok_or_else(|| ExtractError::new(ExtractErrorKind::Crashed, "no spawner"))?
            }
        };
        Worker::start(spawner).await
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
    async fn extract(&self, request: ExtractRequest, input: Input) -> Result<Extracted, ExtractError> {
        WorkerPool::extract(self, request, input).await
    }
}
