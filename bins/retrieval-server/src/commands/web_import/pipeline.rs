//! From pages as the input has them to pages in the docstore: read, prepared and stored at the same time, a batch each.

use std::sync::Arc;

use app::web::{WebPage, prepare_page, save_pages};
use docstore::{Docstore, NewDocument, SaveOutcome};
use extract_worker::WorkerPool;
use indicatif::ProgressBar;
use model::{Clock, SystemClock};
use tokio::sync::mpsc;

use super::page::Unread;
use crate::output;

/// Pages stored in one transaction, unless they are large.
const BATCH: usize = 500;
/// A batch is closed when it has grown beyond this. At most seven are in memory: one being read, one waiting, four
/// being prepared or about to be, one being stored.
const BATCH_BYTES: usize = 8 << 20;
/// Batches that wait to be prepared.
const READ_AHEAD: usize = 1;
/// Batches prepared beyond the one that is awaited, so that one slow document does not leave the workers idle.
const PREPARED_AHEAD: usize = 2;

/// What became of the pages.
#[derive(Default)]
pub struct Report {
    pub read: u64,
    pub imported: u64,
    pub unchanged: u64,
    pub failed: u64,
}

/// A page, or what is wrong with it, and where it stands in the input.
type Placed<T> = (String, Result<T, String>);

/// Where a reader of the input puts its pages.
pub struct Batches {
    sender: mpsc::Sender<Vec<Placed<Unread>>>,
    batch: Vec<Placed<Unread>>,
    bytes: usize,
}

impl Batches {
    /// Waits while enough pages are under way. `false`: nobody wants more, after an error that is told elsewhere.
    pub fn push(&mut self, place: String, page: Result<Unread, String>) -> bool {
        self.bytes += page.as_ref().map_or(0, Unread::size);
        self.batch.push((place, page));
        if self.batch.len() < BATCH && self.bytes < BATCH_BYTES {
            return true;
        }
        self.bytes = 0;
        self.sender.blocking_send(std::mem::take(&mut self.batch)).is_ok()
    }

    /// Hands over the last ones.
    pub fn finish(self) {
        if !self.batch.is_empty() {
            // Nobody listens only after an error of its own, which is told there.
            let _ = self.sender.blocking_send(self.batch);
        }
    }
}

/// Imports all pages that `read` finds. A page that is no good is told and counted.
///
/// # Errors
///
/// When the input cannot be read on, or the docstore fails. What was stored before remains.
pub async fn import(
    read: impl FnOnce(Batches) -> anyhow::Result<()> + Send + 'static,
    store: &Docstore,
    extractor: &Arc<WorkerPool>,
    progress: &ProgressBar,
) -> anyhow::Result<Report> {
    let (sender, mut batches) = mpsc::channel(READ_AHEAD);
    let reader = tokio::task::spawn_blocking(move || read(Batches { sender, batch: Vec::new(), bytes: 0 }));
    let (ahead, mut prepared) = mpsc::channel(PREPARED_AHEAD);
    let preparing = tokio::spawn({
        let extractor = Arc::clone(extractor);
        async move {
            while let Some(batch) = batches.recv().await {
                let task = tokio::spawn(prepare(batch, Arc::clone(&extractor)));
                if ahead.send(task).await.is_err() {
                    break;
                }
            }
        }
    });
    let mut report = Report::default();
    while let Some(task) = prepared.recv().await {
        let mut documents = Vec::new();
        for (place, outcome) in task.await?? {
            report.read += 1;
            match outcome {
                Ok(document) => documents.push(document),
                Err(message) => {
                    report.failed += 1;
                    progress.suspend(|| output::note(&format!("{place}: {message}")));
                }
            }
        }
        for saved in save_pages(store, documents, SystemClock.now()).await? {
            match saved {
                SaveOutcome::Stored | SaveOutcome::MetadataChanged => report.imported += 1,
                SaveOutcome::Unchanged => report.unchanged += 1,
            }
        }
    }
    preparing.await?;
    reader.await??;
    Ok(report)
}

/// Pages of one batch, in order: documents are read by worker processes, the rest prepared on this machine's cores.
async fn prepare(batch: Vec<Placed<Unread>>, extractor: Arc<WorkerPool>) -> anyhow::Result<Vec<Placed<NewDocument>>> {
    let read = futures_util::future::join_all(batch.into_iter().map(|(place, page)| async {
        let page = match page {
            Ok(page) => page.read(extractor.as_ref()).await,
            Err(message) => Err(message),
        };
        (place, page)
    }))
    .await;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let chunk = read.len().div_ceil(threads).max(1);
    let mut pages = read.into_iter();
    let mut tasks = Vec::new();
    loop {
        let part: Vec<Placed<WebPage>> = pages.by_ref().take(chunk).collect();
        if part.is_empty() {
            break;
        }
        tasks.push(tokio::task::spawn_blocking(move || {
            let prepare = |page: WebPage| prepare_page(page, SystemClock.now()).map_err(|error| error.to_string());
            part.into_iter().map(|(place, page)| (place, page.and_then(prepare))).collect::<Vec<_>>()
        }));
    }
    let mut prepared = Vec::new();
    for task in tasks {
        prepared.extend(task.await?);
    }
    Ok(prepared)
}
