//! Import pipeline: one batch is read while others are prepared and stored.

use std::sync::Arc;

use anyhow::bail;
use app::disk::FreeSpace;
use app::web::{WebPage, prepare_page, save_pages};
use docstore::{Docstore, NewDocument, SaveOutcome};
use extract_worker::WorkerPool;
use indicatif::ProgressBar;
use model::Clock;
use tokio::sync::mpsc;

use super::page::RawPage;
use crate::output;

/// Maximum number of pages in a batch, which is stored in one transaction.
const BATCH: usize = 500;
/// Size at which a batch is closed. At most seven are in memory: one being read, one waiting, four being prepared or
/// about to be, one being stored.
const BATCH_BYTES: usize = 8 << 20;
/// Batches waiting to be prepared.
const READ_AHEAD: usize = 1;
/// Batches prepared beyond the awaited one, so that one slow document does not leave the workers idle.
const PREPARED_AHEAD: usize = 2;

/// Numbers of pages by outcome.
#[derive(Default)]
pub struct Report {
    pub read: u64,
    pub imported: u64,
    pub unchanged: u64,
    pub failed: u64,
}

/// A page or its error, with its location in the input.
type Located<T> = (String, Result<T, String>);

/// Sink for the pages of a reader.
pub struct Batches {
    sender: mpsc::Sender<Vec<Located<RawPage>>>,
    batch: Vec<Located<RawPage>>,
    bytes: usize,
}

impl Batches {
    /// Adds a page. Blocks while the pipeline is full. Returns `false` after the import has failed.
    pub fn push(&mut self, location: String, page: Result<RawPage, String>) -> bool {
        // Errors and locations quote the input.
        self.bytes += location.len() + page.as_ref().map_or_else(String::len, RawPage::size);
        self.batch.push((location, page));
        if self.batch.len() < BATCH && self.bytes < BATCH_BYTES {
            return true;
        }
        self.bytes = 0;
        self.sender.blocking_send(std::mem::take(&mut self.batch)).is_ok()
    }

    /// Flushes the last batch.
    pub fn finish(self) {
        if !self.batch.is_empty() {
            // The receiver is gone only after an error, which `import` returns.
            let _ = self.sender.blocking_send(self.batch);
        }
    }
}

/// Imports all pages that `read` finds. Bad pages are reported on standard error and counted.
///
/// # Errors
///
/// Fails if the input or the docstore fails, or if too little disk space is free. Pages stored before remain.
pub async fn import(
    read: impl FnOnce(Batches) -> anyhow::Result<()> + Send + 'static,
    store: &Docstore,
    extractor: &Arc<WorkerPool>,
    free_space: &FreeSpace,
    progress: &ProgressBar,
) -> anyhow::Result<Report> {
    let (sender, mut batches) = mpsc::channel(READ_AHEAD);
    let reader = tokio::task::spawn_blocking(move || read(Batches { sender, batch: Vec::new(), bytes: 0 }));
    let (ahead, mut prepared) = mpsc::channel(PREPARED_AHEAD);
    let preparing = tokio::spawn({
        let (extractor, clock) = (Arc::clone(extractor), store.clock());
        async move {
            while let Some(batch) = batches.recv().await {
                let task = tokio::spawn(prepare(batch, Arc::clone(&extractor), Arc::clone(&clock)));
                if ahead.send(task).await.is_err() {
                    break;
                }
            }
        }
    });
    let mut report = Report::default();
    while let Some(task) = prepared.recv().await {
        let mut documents = Vec::new();
        for (location, outcome) in task.await?? {
            report.read += 1;
            match outcome {
                Ok(document) => documents.push(document),
                Err(message) => {
                    report.failed += 1;
                    progress.suspend(|| output::note(&format!("{location}: {message}")));
                }
            }
        }
        require_space(free_space)?;
        for saved in save_pages(store, documents, store.clock().now()).await? {
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

/// Refuses an import while too little disk space is free.
pub fn require_space(free_space: &FreeSpace) -> anyhow::Result<()> {
    if free_space.is_low() {
        bail!("the disk is almost full: free space, or lower `quotas.min_free_disk_bytes`");
    }
    Ok(())
}

/// Prepares the pages of one batch, in order. Worker processes extract documents; the rest runs on all cores.
async fn prepare(
    batch: Vec<Located<RawPage>>,
    extractor: Arc<WorkerPool>,
    clock: Arc<dyn Clock>,
) -> anyhow::Result<Vec<Located<NewDocument>>> {
    let read = futures_util::future::join_all(batch.into_iter().map(|(location, page)| async {
        let page = match page {
            Ok(page) => page.extract(extractor.as_ref()).await,
            Err(message) => Err(message),
        };
        (location, page)
    }))
    .await;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let chunk = read.len().div_ceil(threads).max(1);
    let mut pages = read.into_iter();
    let mut tasks = Vec::new();
    loop {
        let part: Vec<Located<WebPage>> = pages.by_ref().take(chunk).collect();
        if part.is_empty() {
            break;
        }
        let clock = Arc::clone(&clock);
        tasks.push(tokio::task::spawn_blocking(move || {
            let prepare = |page: WebPage| prepare_page(page, clock.now()).map_err(|error| error.to_string());
            part.into_iter().map(|(location, page)| (location, page.and_then(prepare))).collect::<Vec<_>>()
        }));
    }
    let mut prepared = Vec::new();
    for task in tasks {
        prepared.extend(task.await?);
    }
    Ok(prepared)
}

#[cfg(test)]
mod tests {
    use file_types::FileKind;

    use super::super::page::Document;
    use super::*;

    const MEBIBYTE: usize = 1 << 20;

    /// Returns the numbers of pages of the batches.
    fn batches(pages: impl IntoIterator<Item = Result<RawPage, String>>) -> Vec<usize> {
        let (sender, mut receiver) = mpsc::channel(8);
        let mut batches = Batches { sender, batch: Vec::new(), bytes: 0 };
        for page in pages {
            assert!(batches.push("line 1".to_owned(), page));
        }
        batches.finish();
        std::iter::from_fn(|| receiver.try_recv().ok()).map(|batch| batch.len()).collect()
    }

    #[test]
    fn every_field_counts_towards_the_size_of_a_batch() {
        let fields: [fn(&mut RawPage, String); 10] = [
            |raw, text| raw.page.url = text,
            |raw, text| raw.page.title = Some(text),
            |raw, text| raw.page.markdown = text,
            |raw, text| raw.page.description = Some(text),
            |raw, text| raw.page.language = Some(text),
            |raw, text| raw.page.country = Some(text),
            |raw, text| raw.page.mime = Some(text),
            |raw, text| raw.page.labels.push(text),
            |raw, text| raw.page.labels = vec![String::new(); text.len().div_ceil(size_of::<String>())],
            |raw, text| {
                let (bytes, charset) = text.split_at(MEBIBYTE / 2);
                let (bytes, charset) = (bytes.as_bytes().to_vec(), Some(charset.to_owned()));
                raw.document = Some(Document { kind: FileKind::Html, bytes, charset });
            },
        ];
        for (number, set) in fields.into_iter().enumerate() {
            let page = || {
                let mut raw = RawPage { page: WebPage::default(), document: None };
                set(&mut raw, "x".repeat(MEBIBYTE));
                Ok(raw)
            };
            assert_eq!(batches((0..10).map(|_| page())), [8, 2], "field {number}");
        }
        assert_eq!(batches((0..10).map(|_| Err("x".repeat(MEBIBYTE)))), [8, 2], "errors");
    }

    #[test]
    fn small_pages_fill_a_batch_by_their_number() {
        let page = || RawPage { page: WebPage::default(), document: None };
        assert_eq!(batches((0..=BATCH).map(|_| Ok(page()))), [BATCH, 1]);
        assert_eq!(batches([]), [] as [usize; 0]);
    }
}
