//! In-memory store and engine with injected faults.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use blobs::memory::MemoryStore;
use blobs::{BlobError, BlobErrorKind, BlobStore, ListPage, ObjectMeta, PresignGet, PresignPut};
use bytes::Bytes;
use engine::memory::MemoryEngine;
use engine::{
    Change, EngineError, EngineErrorKind, FirstStageRequest, FirstStageResponse, SearchEngine, SemanticHit,
    SemanticRequest,
};
use model::{DocId, Generation, IndexName};
use time::OffsetDateTime;
use tokio::sync::Semaphore;

#[derive(Default)]
pub struct FaultyStore {
    pub inner: MemoryStore,
    /// Number of upcoming calls that fail as unavailable.
    pub outages: AtomicU32,
    /// Number of upcoming downloads to files that find the disk full.
    pub full_disk: AtomicU32,
    /// Keys deleted as soon as they are fetched.
    pub vanishing: Mutex<HashSet<String>>,
    /// Keys whose content is damaged.
    pub corrupt: Mutex<HashSet<String>>,
    /// Keys whose content is not delivered, and how it fails.
    pub refused: Mutex<HashMap<String, BlobErrorKind>>,
    /// Pings fail.
    pub is_away: AtomicBool,
    /// Keys that are uploaded again as soon as they are listed.
    pub replaced: Mutex<HashSet<String>>,
    /// Keys whose next deletion fails as unavailable, and which are uploaded again at this moment.
    pub replaced_at_deletion: Mutex<HashSet<String>>,
}

impl FaultyStore {
    fn check(&self) -> Result<(), BlobError> {
        match count_down(&self.outages) {
            true => Err(BlobError::new(BlobErrorKind::Unavailable, "injected outage")),
            false => Ok(()),
        }
    }

    /// Fails if the content of the object is not delivered.
    fn check_content(&self, key: &str) -> Result<(), BlobError> {
        self.check()?;
        let refused = self.refused.lock().unwrap().get(key).copied();
        refused.map_or(Ok(()), |kind| Err(BlobError::new(kind, "injected refusal")))
    }
}

/// Takes one of the faults that are left. Returns false if there is none.
fn count_down(faults: &AtomicU32) -> bool {
    faults.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
}

#[async_trait]
impl BlobStore for FaultyStore {
    async fn put(&self, key: &str, body: Bytes) -> Result<ObjectMeta, BlobError> {
        self.inner.put(key, body).await
    }

    async fn get(&self, key: &str, max_bytes: u64) -> Result<Option<(ObjectMeta, Bytes)>, BlobError> {
        self.check_content(key)?;
        if self.vanishing.lock().unwrap().contains(key) {
            self.inner.delete(key).await?;
        }
        if self.corrupt.lock().unwrap().contains(key) {
            return Err(BlobError::new(BlobErrorKind::Corrupt, "injected damage"));
        }
        self.inner.get(key, max_bytes).await
    }

    async fn get_to_file(&self, key: &str, path: &Path, max_bytes: u64) -> Result<Option<ObjectMeta>, BlobError> {
        self.check_content(key)?;
        if count_down(&self.full_disk) {
            let full = io::Error::from(io::ErrorKind::StorageFull);
            return Err(BlobError::new(BlobErrorKind::Failed, "cannot write the file").with_source(full));
        }
        self.inner.get_to_file(key, path, max_bytes).await
    }

    async fn head(&self, key: &str) -> Result<Option<ObjectMeta>, BlobError> {
        self.check()?;
        self.inner.head(key).await
    }

    async fn delete(&self, key: &str) -> Result<(), BlobError> {
        match self.delete_once(key).await {
            Err(error) if error.kind == BlobErrorKind::Unavailable => self.delete_once(key).await,
            outcome => outcome,
        }
    }

    async fn delete_once(&self, key: &str) -> Result<(), BlobError> {
        self.check()?;
        if self.replaced_at_deletion.lock().unwrap().remove(key) {
            self.inner.put(key, Bytes::from_static(b"uploaded again")).await?;
            return Err(BlobError::new(BlobErrorKind::Unavailable, "injected outage"));
        }
        self.inner.delete_once(key).await
    }

    async fn list(&self, prefix: &str, after: Option<&str>) -> Result<ListPage, BlobError> {
        self.check()?;
        let page = self.inner.list(prefix, after).await?;
        let replaced = std::mem::take(&mut *self.replaced.lock().unwrap());
        for key in replaced {
            self.inner.put(&key, Bytes::from_static(b"uploaded again")).await?;
        }
        Ok(page)
    }

    fn presign_put(&self, request: &PresignPut<'_>, now: OffsetDateTime) -> Result<String, BlobError> {
        self.inner.presign_put(request, now)
    }

    fn presign_get(&self, request: &PresignGet<'_>, now: OffsetDateTime) -> Result<String, BlobError> {
        self.inner.presign_get(request, now)
    }

    fn uri(&self, key: &str) -> String {
        self.inner.uri(key)
    }

    async fn prepare(&self) -> Result<(), BlobError> {
        Ok(())
    }

    async fn ping(&self) -> Result<(), BlobError> {
        self.check()?;
        match self.is_away.load(Ordering::SeqCst) {
            true => Err(BlobError::new(BlobErrorKind::Denied, "injected outage")),
            false => Ok(()),
        }
    }
}

/// Point at which calls wait for the test.
pub struct Gate {
    /// Calls that have arrived.
    pub arrived: Semaphore,
    /// Calls that may pass.
    pub open: Semaphore,
}

impl Gate {
    pub fn closed() -> Arc<Self> {
        Arc::new(Self { arrived: Semaphore::new(0), open: Semaphore::new(0) })
    }

    /// Waits until this many more calls have arrived.
    pub async fn wait_for(&self, calls: u32) {
        self.arrived.acquire_many(calls).await.unwrap().forget();
    }

    pub async fn pass(gate: &Mutex<Option<Arc<Self>>>) {
        let gate = gate.lock().unwrap().clone();
        if let Some(gate) = gate {
            gate.arrived.add_permits(1);
            gate.open.acquire().await.unwrap().forget();
        }
    }
}

#[derive(Default)]
pub struct FaultyEngine {
    pub inner: MemoryEngine,
    /// Holds up batches.
    pub applying: Mutex<Option<Arc<Gate>>>,
    /// Holds up the clearing of an index.
    pub clearing: Mutex<Option<Arc<Gate>>>,
    /// Holds up requests for the generation of an index.
    pub generations: Mutex<Option<Arc<Gate>>>,
    /// Number of upcoming batches that fail as unavailable.
    pub outages: AtomicU32,
    /// Documents whose batches are rejected as a whole.
    pub rejected: Mutex<HashSet<DocId>>,
    /// Every document is rejected.
    pub full: AtomicBool,
    /// Documents whose batches make the engine panic.
    pub panicking: Mutex<HashSet<DocId>>,
    /// Every batch makes the engine panic.
    pub broken: AtomicBool,
    /// Number of batches so far.
    pub batches: AtomicU32,
    /// Documents of the applied batches, in order.
    pub applied: Mutex<Vec<Vec<DocId>>>,
    /// The indexes are lost until marked as rebuilt.
    pub lost: AtomicBool,
    /// Number of upcoming marks as rebuilt that fail as unavailable.
    pub unmarkable: AtomicU32,
    /// Indexes that refuse batches until they are cleared, and how.
    pub refusing: Mutex<HashMap<IndexName, EngineErrorKind>>,
}

#[async_trait]
impl SearchEngine for FaultyEngine {
    async fn first_stage(&self, request: &FirstStageRequest) -> Result<FirstStageResponse, EngineError> {
        self.inner.first_stage(request).await
    }

    async fn semantic(&self, request: &SemanticRequest) -> Result<Vec<SemanticHit>, EngineError> {
        self.inner.semantic(request).await
    }

    async fn apply(&self, index: IndexName, changes: Vec<Change>) -> Result<(), EngineError> {
        Gate::pass(&self.applying).await;
        self.batches.fetch_add(1, Ordering::SeqCst);
        if count_down(&self.outages) {
            return Err(EngineError::new(EngineErrorKind::Unavailable, "injected outage"));
        }
        let refusal = self.refusing.lock().unwrap().get(&index).copied();
        if let Some(kind) = refusal {
            return Err(EngineError::new(kind, "injected refusal"));
        }
        let rejected = self.rejected.lock().unwrap().clone();
        let is_rejected = |change: &Change| {
            rejected.contains(&change.doc_id()) || self.full.load(Ordering::SeqCst) && matches!(change, Change::Put(_))
        };
        if changes.iter().any(is_rejected) {
            return Err(EngineError::new(EngineErrorKind::Rejected, "injected rejection"));
        }
        let panicking = self.panicking.lock().unwrap().clone();
        let panics = changes.iter().any(|change| panicking.contains(&change.doc_id()));
        assert!(!panics && !self.broken.load(Ordering::SeqCst), "injected panic");
        if self.lost.load(Ordering::SeqCst) {
            return Err(EngineError::new(EngineErrorKind::Corrupt, "injected loss"));
        }
        self.applied.lock().unwrap().push(changes.iter().map(Change::doc_id).collect());
        self.inner.apply(index, changes).await
    }

    async fn clear(&self, index: IndexName) -> Result<(), EngineError> {
        Gate::pass(&self.clearing).await;
        self.refusing.lock().unwrap().remove(&index);
        self.inner.clear(index).await
    }

    async fn document_count(&self, index: IndexName) -> Result<u64, EngineError> {
        self.inner.document_count(index).await
    }

    async fn ping(&self) -> Result<(), EngineError> {
        Ok(())
    }

    async fn needs_rebuild(&self) -> Result<Vec<IndexName>, EngineError> {
        Ok(if self.lost.load(Ordering::SeqCst) { IndexName::ALL.to_vec() } else { Vec::new() })
    }

    async fn generation(&self, index: IndexName) -> Result<Option<Generation>, EngineError> {
        Gate::pass(&self.generations).await;
        self.inner.generation(index).await
    }

    async fn set_generation(&self, index: IndexName, generation: Generation) -> Result<(), EngineError> {
        self.inner.set_generation(index, generation).await
    }

    async fn mark_rebuilt(&self, _: &[IndexName]) -> Result<(), EngineError> {
        if count_down(&self.unmarkable) {
            return Err(EngineError::new(EngineErrorKind::Unavailable, "injected outage"));
        }
        self.lost.store(false, Ordering::SeqCst);
        Ok(())
    }
}
