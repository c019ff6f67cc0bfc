#![doc = include_str!("../README.md")]

mod bits;
mod country_cache;
mod document;
mod error;
mod filter;
mod index;
mod index_dir;
mod line_tokenizer;
mod max_score;
mod phrase;
mod posting_list;
mod schema;
mod scope_statistics;
mod search;
mod segment_search;
mod semantic;
mod term_lookups;
mod top_hits;

pub use index_dir::IndexDirState;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use engine::{
    Change, EngineError, EngineErrorKind, FirstStageRequest, FirstStageResponse, SearchEngine, SemanticHit,
    SemanticRequest,
};
use model::{Generation, IndexName};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::from_tantivy;
use crate::index::EngineIndex;
use crate::index_dir::IndexDir;
use crate::semantic::{Searched, Threads};

#[derive(Clone, Copy, Debug)]
pub struct TantivyOptions {
    /// Memory budget of an open writer in bytes, at least 15 MB per thread.
    pub writer_memory: usize,
    /// Number of indexing threads, and of concurrent searches.
    pub threads: usize,
    /// Time without changes after which the writer is closed and its memory freed.
    pub writer_idle_timeout: Duration,
}

impl Default for TantivyOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let threads = cores.min(4);
        Self { writer_memory: threads * 20_000_000, threads, writer_idle_timeout: Duration::from_secs(5) }
    }
}

/// Two indexes in one directory that is locked by this process.
pub struct TantivyEngine {
    inner: Arc<Inner>,
}

struct Inner {
    web: EngineIndex,
    workspace: EngineIndex,
    needs_rebuild: AtomicBool,
    /// True while a task is scheduled that closes idle writers.
    close_scheduled: AtomicBool,
    /// Limits concurrent searches, which are CPU-bound: more of them than cores would slow down all.
    searches: Arc<Semaphore>,
    writer_idle_timeout: Duration,
    dir: IndexDir,
}

impl TantivyEngine {
    /// Opens or creates the indexes in `dir`.
    ///
    /// # Errors
    ///
    /// `Unavailable` if another process has locked the directory or it is not accessible.
    pub fn open(dir: &Path, options: TantivyOptions) -> Result<Self, EngineError> {
        Self::try_open(dir, options)?.ok_or_else(|| {
            let message = format!("index directory `{}` is locked by another process", dir.display());
            EngineError::new(EngineErrorKind::Unavailable, message)
        })
    }

    /// Opens or creates the indexes in `dir`. Returns `None` if another process has locked the directory.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the directory is not accessible.
    pub fn try_open(dir: &Path, options: TantivyOptions) -> Result<Option<Self>, EngineError> {
        let Some(dir) = IndexDir::try_lock(dir)? else { return Ok(None) };
        if !dir.is_current()? {
            // New, or of another version. The marker is written first, so that a crash cannot leave empty indexes that
            // look complete.
            dir.set_needs_rebuild(true)?;
            for name in IndexName::ALL.iter().copied() {
                dir.delete_index(name.as_str())?;
            }
            dir.set_current()?;
        } else if !dir.has_indexes()? {
            // Lost. Its stored generation is not, by which the empty one that replaces it would look complete.
            dir.set_needs_rebuild(true)?;
        }
        let web = open_index(&dir, IndexName::Web, options)?;
        let workspace = open_index(&dir, IndexName::Workspace, options)?;
        let inner = Inner {
            web,
            workspace,
            needs_rebuild: AtomicBool::new(dir.needs_rebuild()?),
            close_scheduled: AtomicBool::new(false),
            searches: Arc::new(Semaphore::new(options.threads.max(1))),
            writer_idle_timeout: options.writer_idle_timeout,
            dir,
        };
        Ok(Some(Self { inner: Arc::new(inner) }))
    }

    /// Looks at the indexes in `dir` without changing them.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the directory is not accessible.
    pub fn inspect(dir: &Path) -> Result<IndexDirState, EngineError> {
        IndexDir::inspect(dir)
    }

    async fn search_permit(&self) -> Result<OwnedSemaphorePermit, EngineError> {
        Arc::clone(&self.inner.searches).acquire_owned().await.map_err(|error| {
            EngineError::new(EngineErrorKind::Unavailable, "the embedded index is closed").with_source(error)
        })
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let inner = Arc::clone(&self.inner);
        let work = move || work(&inner).inspect_err(|error| inner.note_damage(error));
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
            // A task is cancelled only while the process stops.
            let kind = if error.is_panic() { EngineErrorKind::Panicked } else { EngineErrorKind::Unavailable };
            Err(EngineError::new(kind, "a task of the embedded index ended early").with_source(error))
        })
    }

    /// Schedules a task that closes idle writers, unless one is scheduled.
    fn schedule_close(&self) {
        if self.inner.close_scheduled.swap(true, Ordering::AcqRel) {
            return;
        }
        let inner = Arc::downgrade(&self.inner);
        let timeout = self.inner.writer_idle_timeout;
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(timeout).await;
                // A weak reference, so that the task does not keep a dropped engine alive.
                let Some(inner) = inner.upgrade() else { return };
                let writers_open = tokio::task::spawn_blocking(move || {
                    let unused_since = Instant::now().checked_sub(timeout);
                    inner.close_idle_writers(unused_since)
                });
                if !matches!(writers_open.await, Ok(true)) {
                    return;
                }
            }
        });
    }
}

impl Inner {
    fn index(&self, index: IndexName) -> &EngineIndex {
        match index {
            IndexName::Web => &self.web,
            IndexName::Workspace => &self.workspace,
        }
    }

    /// Marks the indexes for a rebuild if the error is that of a damaged one.
    fn note_damage(&self, error: &EngineError) {
        if error.kind != EngineErrorKind::Corrupt || self.needs_rebuild.swap(true, Ordering::AcqRel) {
            return;
        }
        if let Err(error) = self.dir.set_needs_rebuild(true) {
            tracing::warn!(error = &error as &dyn std::error::Error, "cannot mark the damaged index for a rebuild");
        }
    }

    /// Closes writers that were not used since the given time. Returns true if the caller has to call again later.
    fn close_idle_writers(&self, unused_since: Option<Instant>) -> bool {
        // Reset before the writers are checked, so that a later `apply` schedules a new task.
        self.close_scheduled.store(false, Ordering::Release);
        let Some(before) = unused_since else { return !self.close_scheduled.swap(true, Ordering::AcqRel) };
        let mut writers_open = false;
        for index in [&self.web, &self.workspace] {
            match index.close_writer(before) {
                Ok(open) => writers_open |= open,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "cannot close the index writer")
                }
            }
        }
        // A concurrent `apply` may have scheduled its own task.
        writers_open && !self.close_scheduled.swap(true, Ordering::AcqRel)
    }
}

/// Opens an index. A damaged one is replaced by an empty one that needs a rebuild. One that merely cannot be opened is kept.
fn open_index(dir: &IndexDir, name: IndexName, options: TantivyOptions) -> Result<EngineIndex, EngineError> {
    let path = dir.index_path(name.as_str());
    match EngineIndex::open(&path, options) {
        Err(error) if error.kind == EngineErrorKind::Corrupt => {
            tracing::warn!(
                index = name.as_str(),
                error = &error as &dyn std::error::Error,
                "index is damaged and will be rebuilt"
            );
            dir.set_needs_rebuild(true)?;
            dir.delete_index(name.as_str())?;
            EngineIndex::open(&path, options)
        }
        opened => opened,
    }
}

#[async_trait]
impl SearchEngine for TantivyEngine {
    fn verifies_phrases(&self) -> bool {
        true
    }

    async fn first_stage(&self, request: &FirstStageRequest) -> Result<FirstStageResponse, EngineError> {
        let permit = self.search_permit().await?;
        let request = request.clone();
        self.blocking(move |inner| {
            // Held by the search itself: a dropped future must not release the permit while the search still runs.
            let _permit = permit;
            inner.index(request.collection.index()).first_stage(&request)
        })
        .await
    }

    async fn semantic(&self, request: &SemanticRequest) -> Result<Vec<SemanticHit>, EngineError> {
        let index = request.collection.index();
        let threads = Threads::new(self.search_permit().await?);
        let request = request.clone();
        let search = match self.blocking(move |inner| inner.index(index).semantic(&request, &threads)).await? {
            Searched::Hits(hits) => return Ok(hits),
            Searched::LacksSketches(search) => search,
        };
        // Without a permit, which other searches would wait for.
        let turn = self.inner.index(index).turn_to_build().await;
        let built = self.blocking(move |inner| {
            // Held by the work itself: it goes on after a timeout of this search, and those that wait need its result.
            let _turn = turn;
            let sketches = inner.index(index).build_sketches(&search)?;
            Ok((search, sketches))
        });
        let (search, sketches) = built.await?;
        let threads = Threads::new(self.search_permit().await?);
        self.blocking(move |_| search.finish(sketches, &threads).map_err(from_tantivy)).await
    }

    async fn apply(&self, index: IndexName, changes: Vec<Change>) -> Result<(), EngineError> {
        if changes.is_empty() {
            return Ok(());
        }
        self.schedule_close();
        self.blocking(move |inner| inner.index(index).apply(&changes)).await
    }

    async fn clear(&self, index: IndexName) -> Result<(), EngineError> {
        self.schedule_close();
        self.blocking(move |inner| inner.index(index).clear()).await
    }

    async fn document_count(&self, index: IndexName) -> Result<u64, EngineError> {
        Ok(self.inner.index(index).document_count())
    }

    async fn ping(&self) -> Result<(), EngineError> {
        // Reads a file, since searches keep working for a while on memory-mapped files of a deleted directory.
        self.blocking(|inner| {
            if inner.dir.is_current()? {
                return Ok(());
            }
            Err(EngineError::new(EngineErrorKind::Unavailable, "the index directory is missing or unreadable"))
        })
        .await
    }

    /// Returns both indexes or none. The state survives restarts.
    async fn needs_rebuild(&self) -> Result<Vec<IndexName>, EngineError> {
        let needed = self.inner.needs_rebuild.load(Ordering::Acquire);
        Ok(if needed { IndexName::ALL.to_vec() } else { Vec::new() })
    }

    async fn generation(&self, index: IndexName) -> Result<Option<Generation>, EngineError> {
        self.blocking(move |inner| inner.dir.generation(index.as_str())).await
    }

    async fn set_generation(&self, index: IndexName, generation: Generation) -> Result<(), EngineError> {
        self.blocking(move |inner| inner.dir.set_generation(index.as_str(), generation)).await
    }

    async fn mark_rebuilt(&self, _: &[IndexName]) -> Result<(), EngineError> {
        self.blocking(|inner| {
            inner.dir.set_needs_rebuild(false)?;
            inner.needs_rebuild.store(false, Ordering::Release);
            Ok(())
        })
        .await
    }
}
