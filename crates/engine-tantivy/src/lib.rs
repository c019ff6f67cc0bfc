//! The embedded search engine: tantivy behind the first-stage seam. See README.md.

mod document;
mod error;
mod filter;
mod folder;
mod hits;
mod lines;
mod schema;
mod scope;
mod search;
mod slot;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use engine::{Change, EngineError, EngineErrorKind, FirstStageRequest, FirstStageResponse, SearchEngine};
use model::IndexName;
use tokio::sync::Semaphore;

use crate::folder::Folder;
use crate::slot::Slot;

#[derive(Clone, Copy, Debug)]
pub struct TantivyOptions {
    /// Bytes that documents are collected in before they are written out, while writing. At least 15 MB a
    /// thread are taken.
    pub writer_memory: usize,
    /// Threads that analyse and index, and searches that run at a time.
    pub threads: usize,
    /// After this long without a change the writer and its memory are let go.
    pub idle_writer: Duration,
}

impl Default for TantivyOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let threads = cores.min(4);
        Self { writer_memory: threads * 20_000_000, threads, idle_writer: Duration::from_secs(5) }
    }
}

/// Two indexes in one folder, owned by this process.
pub struct TantivyEngine {
    inner: Arc<Inner>,
}

struct Inner {
    web: Slot,
    workspace: Slot,
    needs_rebuild: AtomicBool,
    closing: AtomicBool,
    /// Searches are computation: more at a time than cores only makes all of them slow.
    searches: Arc<Semaphore>,
    idle_writer: Duration,
    folder: Folder,
}

impl TantivyEngine {
    /// Opens the indexes in `dir`, or makes them.
    ///
    /// # Errors
    /// `Unavailable` when another process owns the folder or it cannot be used.
    pub fn open(dir: &Path, options: TantivyOptions) -> Result<Self, EngineError> {
        Self::try_open(dir, options)?.ok_or_else(|| {
            let message = format!("another process owns the index folder `{}`", dir.display());
            EngineError::new(EngineErrorKind::Unavailable, message)
        })
    }

    /// As [`open`](Self::open), but `None` when another process owns the folder.
    ///
    /// # Errors
    /// `Unavailable` when the folder cannot be used.
    pub fn try_open(dir: &Path, options: TantivyOptions) -> Result<Option<Self>, EngineError> {
        let Some(folder) = Folder::own(dir)? else { return Ok(None) };
        if !folder.is_current() {
            // Either new or of another version. The mark goes first: a crash from here on must not leave
            // empty indexes that look complete.
            folder.set_needs_rebuild(true)?;
            for name in IndexName::ALL.iter().copied() {
                folder.discard(name.as_str())?;
            }
            folder.set_current()?;
        }
        let web = open_slot(&folder, IndexName::Web, options)?;
        let workspace = open_slot(&folder, IndexName::Workspace, options)?;
        let inner = Inner {
            web,
            workspace,
            needs_rebuild: AtomicBool::new(folder.needs_rebuild()),
            closing: AtomicBool::new(false),
            searches: Arc::new(Semaphore::new(options.threads.max(1))),
            idle_writer: options.idle_writer,
            folder,
        };
        Ok(Some(Self { inner: Arc::new(inner) }))
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let inner = Arc::clone(&self.inner);
        tokio::task::spawn_blocking(move || work(&inner)).await.unwrap_or_else(|error| {
            Err(EngineError::new(EngineErrorKind::Unavailable, "the embedded index gave up").with_source(error))
        })
    }

    /// Sees to it that idle writers are let go.
    fn close_writers_later(&self) {
        if self.inner.closing.swap(true, Ordering::AcqRel) {
            return;
        }
        let inner = Arc::downgrade(&self.inner);
        let idle = self.inner.idle_writer;
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(idle).await;
                // The engine may be gone; it must not be kept alive for this.
                let Some(inner) = inner.upgrade() else { return };
                let closed = tokio::task::spawn_blocking(move || {
                    let before = Instant::now().checked_sub(idle);
                    inner.close_writers(before)
                });
                if !matches!(closed.await, Ok(true)) {
                    return;
                }
            }
        });
    }
}

impl Inner {
    fn slot(&self, index: IndexName) -> &Slot {
        match index {
            IndexName::Web => &self.web,
            IndexName::Workspace => &self.workspace,
        }
    }

    /// Returns whether a writer is left that will have to be closed later.
    fn close_writers(&self, unused_since: Option<Instant>) -> bool {
        // Before the look, so that an apply that comes after it starts a new round.
        self.closing.store(false, Ordering::Release);
        let Some(before) = unused_since else { return !self.closing.swap(true, Ordering::AcqRel) };
        let mut left = false;
        for slot in [&self.web, &self.workspace] {
            match slot.close_writer(before) {
                Ok(open) => left |= open,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "closing the index writer failed")
                }
            }
        }
        // If an apply came in between, its own round is under way.
        left && !self.closing.swap(true, Ordering::AcqRel)
    }
}

/// Opens an index; one that cannot be used is replaced by an empty one.
fn open_slot(folder: &Folder, name: IndexName, options: TantivyOptions) -> Result<Slot, EngineError> {
    let path = folder.index(name.as_str());
    match Slot::open(&path, options) {
        Ok(slot) => Ok(slot),
        Err(error) => {
            tracing::warn!(
                index = name.as_str(),
                error = &error as &dyn std::error::Error,
                "the index cannot be used and starts empty"
            );
            folder.set_needs_rebuild(true)?;
            folder.discard(name.as_str())?;
            Slot::open(&path, options)
        }
    }
}

#[async_trait]
impl SearchEngine for TantivyEngine {
    async fn first_stage(&self, request: &FirstStageRequest) -> Result<FirstStageResponse, EngineError> {
        let permit = Arc::clone(&self.inner.searches).acquire_owned().await.map_err(|error| {
            EngineError::new(EngineErrorKind::Unavailable, "the embedded index is closed").with_source(error)
        })?;
        let request = request.clone();
        self.blocking(move |inner| {
            // Held by the work, not by the waiting: a caller that gives up does not make room for another.
            let _permit = permit;
            inner.slot(request.collection.index()).first_stage(&request)
        })
        .await
    }

    async fn apply(&self, index: IndexName, changes: Vec<Change>) -> Result<(), EngineError> {
        if changes.is_empty() {
            return Ok(());
        }
        self.close_writers_later();
        self.blocking(move |inner| inner.slot(index).apply(&changes)).await
    }

    async fn clear(&self, index: IndexName) -> Result<(), EngineError> {
        self.close_writers_later();
        self.blocking(move |inner| inner.slot(index).clear()).await
    }

    async fn document_count(&self, index: IndexName) -> Result<u64, EngineError> {
        Ok(self.inner.slot(index).document_count())
    }

    async fn ping(&self) -> Result<(), EngineError> {
        // The indexes are mapped and would go on answering for a while from a folder that is gone.
        self.blocking(|inner| {
            if inner.folder.is_current() {
                return Ok(());
            }
            Err(EngineError::new(EngineErrorKind::Unavailable, "the index folder is gone or not readable"))
        })
        .await
    }

    /// Remembered across restarts, for both indexes together.
    async fn needs_rebuild(&self) -> Result<Vec<IndexName>, EngineError> {
        let needed = self.inner.needs_rebuild.load(Ordering::Acquire);
        Ok(if needed { IndexName::ALL.to_vec() } else { Vec::new() })
    }

    async fn mark_rebuilt(&self, _: &[IndexName]) -> Result<(), EngineError> {
        self.blocking(|inner| {
            inner.folder.set_needs_rebuild(false)?;
            inner.needs_rebuild.store(false, Ordering::Release);
            Ok(())
        })
        .await
    }
}
