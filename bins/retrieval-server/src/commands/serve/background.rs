//! Background work of an instance: indexing, webhooks, crawls, research.

use std::path::PathBuf;
use std::sync::Arc;

use blobs::BlobStore;
use docstore::Docstore;
use extract_worker::{Extractor, WorkerPool};
use ingest::pages::IsFull;
use ingest::{EmbeddingWorker, Ownership, Runner, Scripted, Supervisor};
use models::embedding::Embedder;
use research::Research;
use settings::Settings;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use webhooks::Sender;

use crate::compose::{self, Index};
use crate::crawls;

/// Parts that several kinds of work share.
pub struct Shared<'a> {
    pub settings: &'a Settings,
    pub store: &'a Docstore,
    pub blobs: &'a Arc<dyn BlobStore>,
    pub extractor: &'a Arc<WorkerPool>,
    /// Reader of pages that need a browser.
    pub scripted: Scripted,
    /// Guard of the disk.
    pub is_full: IsFull,
}

/// Starts tasks that run until `stop`.
pub struct Background<'a> {
    pub supervisor: &'a Supervisor,
    pub stop: &'a CancellationToken,
    pub tasks: &'a mut Vec<JoinHandle<()>>,
}

impl Background<'_> {
    /// Feeds the index and executes indexing runs, which write large files to `temp_dir`.
    pub async fn index(
        &mut self,
        shared: &Shared<'_>,
        index: &Index,
        temp_dir: PathBuf,
    ) -> anyhow::Result<Arc<Runner>> {
        take_over_runs(shared.store, index).await?;
        if index.ownership == Ownership::Exclusive {
            // Requeues lost or damaged parts of the embedded index before the first search.
            index.feeder.restore().await?;
        }
        let options = compose::runner_options(shared.settings, shared.store, Arc::clone(&shared.is_full), temp_dir);
        let runner = Arc::new(Runner::new(
            shared.store.clone(),
            Arc::clone(shared.blobs),
            Arc::clone(shared.extractor) as Arc<dyn Extractor>,
            Arc::clone(&index.feeder),
            options,
        ));
        let (feeder, working) = (Arc::clone(&index.feeder), Arc::clone(&runner));
        self.spawn("feeder", move |stop| {
            let feeder = Arc::clone(&feeder);
            async move { feeder.work(stop).await }
        });
        self.spawn("runner", move |stop| Arc::clone(&working).work(stop));
        Ok(runner)
    }

    /// Makes the indexes use the vectors of the model, and embeds documents; without a model, the indexes use no vectors.
    ///
    /// Servers that run with another model stop embedding.
    pub async fn embed(&mut self, store: &Docstore, embedder: Option<&Arc<dyn Embedder>>) -> anyhow::Result<()> {
        let Some(embedder) = embedder else { return Ok(store.use_model(None).await?) };
        let worker = EmbeddingWorker::new(store.clone(), Arc::clone(embedder), store.clock());
        worker.adopt().await?;
        let worker = Arc::new(worker);
        self.spawn("embedding", move |stop| Arc::clone(&worker).work(stop));
        Ok(())
    }

    pub fn deliver_webhooks(&mut self, shared: &Shared<'_>, sender: &Arc<Sender>) {
        let worker = compose::webhook_worker(shared.settings, shared.store, sender);
        self.spawn("webhooks", move |stop| Arc::clone(&worker).work(stop));
    }

    pub async fn crawl(&mut self, shared: &Shared<'_>) -> anyhow::Result<()> {
        let Shared { settings, store, extractor, scripted, is_full, .. } = shared;
        let crawler = crawls::crawler(settings, store, extractor, scripted.clone(), Arc::clone(is_full), None).await?;
        self.spawn("crawler", move |stop| Arc::clone(&crawler).work(stop));
        Ok(())
    }

    pub fn research(&mut self, research: &Arc<Research>) {
        let working = Arc::clone(research);
        self.spawn("research", move |stop| Arc::clone(&working).work(stop));
    }

    fn spawn<F>(&mut self, name: &'static str, work: impl Fn(CancellationToken) -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let stop = self.stop.clone();
        self.tasks.push(self.supervisor.spawn(name, move || work(stop.clone())));
    }
}

/// Expires the run leases of a crashed process at once if no other process can hold them.
async fn take_over_runs(store: &Docstore, index: &Index) -> anyhow::Result<()> {
    if index.ownership == Ownership::Exclusive {
        let taken = store.expire_run_leases().await?;
        if taken > 0 {
            tracing::info!(runs = taken, "resuming interrupted indexing runs");
        }
        let taken = store.expire_research_leases().await?;
        if taken > 0 {
            tracing::info!(runs = taken, "resuming interrupted research runs");
        }
    }
    Ok(())
}
