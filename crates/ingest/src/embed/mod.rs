//! Embedding of passages, apart from indexing: a document is indexed at once, and once more when its vectors are stored.
//!
//! A job in the database says that the latest capture of a document lacks vectors. Processes lease jobs, of all organizations in
//! turn. Each text is embedded once: texts are compared with those of stored vectors by their digests. While the model is
//! unavailable, jobs wait and nothing else does.

mod calibrate;
mod call_size;
mod calls;
mod document;
mod fill;
mod heartbeat;
mod round;
mod text;
mod text_set;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use docstore::{Docstore, EmbeddingJob, StoreError};
use model::{Clock, IndexName, OrganizationId};
use models::embedding::Embedder;
use tokio_util::sync::CancellationToken;

pub use calibrate::{find_calibration, measure};
pub use fill::{Filled, Filler};
pub use round::{EmbedError, register_metrics};
use round::{Embedding, LEASE, Task};
pub use text::MAX_PASSAGES;

use crate::turns;

/// Documents per round.
const JOBS_PER_ROUND: i64 = 64;
/// Documents enqueued at a time after a change of the model.
const DOCUMENTS_PER_PAGE: i64 = 1_000;
/// Interval at which an idle worker polls for jobs.
const IDLE_POLL: Duration = Duration::from_secs(1);
const MIN_BACKOFF: Duration = Duration::from_secs(1);
const MAX_BACKOFF: Duration = Duration::from_mins(1);

/// Worker that embeds documents of all organizations. Several processes can run one each.
pub struct EmbeddingWorker {
    embedding: Embedding,
    /// Owner of the last job that a round reached; `None` for the web.
    served: Mutex<Option<OrganizationId>>,
    /// True once the log says that the indexes use another model.
    is_replaced: AtomicBool,
}

impl EmbeddingWorker {
    pub fn new(store: Docstore, embedder: Arc<dyn Embedder>, clock: Arc<dyn Clock>) -> Self {
        round::register_metrics();
        let embedding = Embedding::new(store, embedder, clock);
        Self { embedding, served: Mutex::default(), is_replaced: AtomicBool::default() }
    }

    /// Sets the time after which other organizations have their turn, a minute by default.
    pub fn with_round_time(mut self, round_time: Duration) -> Self {
        self.embedding.round_time = round_time;
        self
    }

    /// Makes the indexes use this model. If they used another one, the worker enqueues all documents.
    pub async fn adopt(&self) -> Result<(), StoreError> {
        self.embedding.store.use_model(Some(self.embedding.model())).await
    }

    /// Embeds until `stop`, then releases the jobs in progress. Failures are logged and retried with back-off.
    pub async fn work(self: Arc<Self>, stop: CancellationToken) {
        tokio::select! {
            () = stop.cancelled() => {}
            // Documents do not wait for the calibration.
            ((), ()) = async { tokio::join!(self.calibrate(), self.embed_forever()) } => {}
        }
        if let Err(error) = self.release().await {
            tracing::warn!(error = &error as &dyn std::error::Error, "releasing documents to embed failed");
        }
    }

    /// Measures the model, unless its quality is known. Failures are logged and retried with back-off.
    async fn calibrate(&self) {
        let mut backoff = MIN_BACKOFF;
        while let Err(error) = self.embedding.calibrate().await {
            tracing::warn!(error = &error as &dyn std::error::Error, "measuring the embedding model failed, retrying");
            tokio::time::sleep(backoff).await;
            backoff = (backoff * 2).min(MAX_BACKOFF);
        }
    }

    async fn embed_forever(&self) {
        let mut backoff = MIN_BACKOFF;
        loop {
            let pause = match self.step().await {
                Ok(done) => {
                    backoff = MIN_BACKOFF;
                    if done > 0 { Duration::ZERO } else { IDLE_POLL }
                }
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "embedding documents failed, retrying");
                    let pause = backoff;
                    backoff = (backoff * 2).min(MAX_BACKOFF);
                    pause
                }
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// Embeds all documents that are due.
    ///
    /// # Errors
    /// Failures of the model or the database. The jobs are kept.
    pub async fn drain(&self) -> Result<(), EmbedError> {
        while self.step().await? > 0 {}
        Ok(())
    }

    /// Enqueues documents after a change of the model, or embeds some. Returns their number; 0 if there is nothing to do, or nothing
    /// could be done.
    async fn step(&self) -> Result<usize, EmbedError> {
        let (store, model) = (&self.embedding.store, self.embedding.model());
        for index in IndexName::ALL {
            let used = store.find_index_model(*index).await?;
            if used.model.as_ref() != Some(&model) {
                self.report_replaced(*index, &model, used.model.as_deref());
                return Ok(0);
            }
            if used.queued {
                continue;
            }
            let now = self.embedding.clock.now();
            if let Some(queued) = store.queue_for_model(*index, model.clone(), DOCUMENTS_PER_PAGE, now).await? {
                return Ok(queued);
            }
        }
        self.is_replaced.store(false, Ordering::Relaxed);
        self.embed_some(model).await
    }

    /// Logs once that a server with other settings has taken over.
    fn report_replaced(&self, index: IndexName, model: &str, used: Option<&str>) {
        if !self.is_replaced.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                index = index.as_str(),
                model,
                used = used.unwrap_or("none"),
                "another server has switched the index to its model, so this one embeds no more documents"
            );
        }
    }

    async fn embed_some(&self, model: String) -> Result<usize, EmbedError> {
        let jobs = turns::in_turn_after(self.served(), self.claim().await?);
        if jobs.is_empty() {
            return Ok(0);
        }
        let task = |job: &EmbeddingJob| Task { doc_id: job.doc_id, attempts: job.attempts };
        let tasks: Vec<Task> = jobs.iter().map(task).collect();
        let outcome = self.embedding.round(&tasks).await;
        let mut settled = 0;
        if let Ok(round) = &outcome {
            if let Some(last) = jobs.get(..round.reached).and_then(<[EmbeddingJob]>::last) {
                *self.served.lock().unwrap_or_else(PoisonError::into_inner) = last.organization_id;
            }
            if !round.settled.is_empty() {
                settled = self.embedding.store.settle_embedding_jobs(round.settled.clone(), model).await?;
            }
        }
        // What this round did not reach is due again.
        self.release().await?;
        let round = outcome?;
        let is_stuck = settled == 0 && round.is_stuck();
        match round.failure {
            Some(error) => Err(error.into()),
            // Idle, since these jobs are due again at once.
            None if is_stuck => Ok(0),
            None => Ok(jobs.len()),
        }
    }

    fn served(&self) -> Option<OrganizationId> {
        *self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leases jobs of the organizations after the one that had its turn last, and of the web.
    async fn claim(&self) -> Result<Vec<EmbeddingJob>, StoreError> {
        let Embedding { store, clock, owner, .. } = &self.embedding;
        if store.oldest_embedding_job().await?.is_none() {
            return Ok(Vec::new());
        }
        let now = clock.now();
        store.claim_embedding_jobs(owner.clone(), self.served(), now, now + LEASE, JOBS_PER_ROUND).await
    }

    async fn release(&self) -> Result<(), StoreError> {
        let Embedding { store, clock, owner, .. } = &self.embedding;
        store.release_embedding_jobs(owner.clone(), clock.now()).await
    }
}
