use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use blobs::memory::MemoryStore;
use blobs::{BlobError, BlobErrorKind, BlobStore, ListPage, ObjectMeta, PresignGet, PresignPut};
use bytes::Bytes;
use time::OffsetDateTime;

/// The most by which a time in whole seconds is early.
const ROUNDED: Duration = Duration::from_millis(999);

/// Work of another process.
type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The memory store, which a test can switch off.
#[derive(Default)]
pub struct TestBlobs {
    pub inner: MemoryStore,
    /// Number of calls of `list` so far, except those to `inner`.
    pub listed: AtomicUsize,
    /// Makes `head` state times in whole seconds, the earliest that they may be.
    pub rounds_head: AtomicBool,
    /// Makes `list` do so.
    pub rounds_list: AtomicBool,
    fault: Mutex<Option<BlobErrorKind>>,
    /// Key, number of calls of `head` for it that are left, and the work to do then.
    after_head: Mutex<Option<(String, usize, Work)>>,
    replaced_at_deletion: Mutex<Option<String>>,
    /// Key of an object that `head` does not answer for.
    unreadable: Mutex<Option<(String, BlobErrorKind)>>,
}

impl TestBlobs {
    /// From now on every call fails, except those to [`inner`](Self::inner).
    pub fn fail(&self, kind: BlobErrorKind) {
        *lock(&self.fault) = Some(kind);
    }

    pub fn recover(&self) {
        *lock(&self.fault) = None;
        *lock(&self.unreadable) = None;
    }

    /// From now on `head` of this object fails, except for `inner`.
    pub fn fail_head(&self, key: String, kind: BlobErrorKind) {
        *lock(&self.unreadable) = Some((key, kind));
    }

    /// Does this within a `head` of the object, `calls` from now on, once it has looked: another process may be as fast.
    pub fn after_head(&self, key: String, calls: usize, work: impl Future<Output = ()> + Send + 'static) {
        *lock(&self.after_head) = Some((key, calls, Box::pin(work)));
    }

    /// Lets the next deletion of the object fail as unavailable, and stores another object under its key at this moment.
    pub fn replace_at_deletion(&self, key: String) {
        *lock(&self.replaced_at_deletion) = Some(key);
    }

    /// Counts a call of `head`. Returns the work that is due.
    fn due(&self, key: &str) -> Option<Work> {
        let mut waiting = lock(&self.after_head);
        let (_, left, _) = waiting.as_mut().filter(|(waiting, _, _)| waiting == key)?;
        *left = left.saturating_sub(1);
        let (_, _, work) = waiting.take_if(|(_, left, _)| *left == 0)?;
        Some(work)
    }

    fn check_head(&self, key: &str) -> Result<(), BlobError> {
        self.check()?;
        let unreadable = lock(&self.unreadable);
        let unreadable = unreadable.as_ref().filter(|(unreadable, _)| unreadable == key);
        unreadable.map_or(Ok(()), |(_, kind)| Err(BlobError::new(*kind, "the object is on fire")))
    }

    fn check(&self) -> Result<(), BlobError> {
        let fault = *lock(&self.fault);
        fault.map_or(Ok(()), |kind| Err(BlobError::new(kind, "the bucket is on fire")))
    }
}

fn rounded(object: ObjectMeta, rounds: &AtomicBool) -> ObjectMeta {
    let early = if rounds.load(Ordering::Relaxed) { ROUNDED } else { Duration::ZERO };
    ObjectMeta { last_modified: object.last_modified - early, ..object }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[async_trait]
impl BlobStore for TestBlobs {
    async fn put(&self, key: &str, body: Bytes) -> Result<ObjectMeta, BlobError> {
        self.check()?;
        self.inner.put(key, body).await
    }

    async fn get(&self, key: &str, max_bytes: u64) -> Result<Option<(ObjectMeta, Bytes)>, BlobError> {
        self.check()?;
        self.inner.get(key, max_bytes).await
    }

    async fn get_to_file(&self, key: &str, path: &Path, max_bytes: u64) -> Result<Option<ObjectMeta>, BlobError> {
        self.check()?;
        self.inner.get_to_file(key, path, max_bytes).await
    }

    async fn head(&self, key: &str) -> Result<Option<ObjectMeta>, BlobError> {
        self.check_head(key)?;
        let found = self.inner.head(key).await?;
        if let Some(work) = self.due(key) {
            work.await;
        }
        Ok(found.map(|object| rounded(object, &self.rounds_head)))
    }

    async fn delete(&self, key: &str) -> Result<(), BlobError> {
        match self.delete_once(key).await {
            Err(error) if error.kind == BlobErrorKind::Unavailable => self.delete_once(key).await,
            outcome => outcome,
        }
    }

    async fn delete_once(&self, key: &str) -> Result<(), BlobError> {
        self.check()?;
        let replaced = lock(&self.replaced_at_deletion).take_if(|replaced| replaced.as_str() == key);
        if replaced.is_some() {
            self.inner.put(key, Bytes::from_static(b"uploaded again")).await?;
            return Err(BlobError::new(BlobErrorKind::Unavailable, "the bucket is on fire"));
        }
        self.inner.delete_once(key).await
    }

    async fn list(&self, prefix: &str, after: Option<&str>) -> Result<ListPage, BlobError> {
        self.listed.fetch_add(1, Ordering::Relaxed);
        self.check()?;
        let ListPage { objects, next } = self.inner.list(prefix, after).await?;
        Ok(ListPage { objects: objects.into_iter().map(|object| rounded(object, &self.rounds_list)).collect(), next })
    }

    fn presign_put(&self, request: &PresignPut<'_>, now: OffsetDateTime) -> Result<String, BlobError> {
        self.check()?;
        self.inner.presign_put(request, now)
    }

    fn presign_get(&self, request: &PresignGet<'_>, now: OffsetDateTime) -> Result<String, BlobError> {
        self.check()?;
        self.inner.presign_get(request, now)
    }

    fn uri(&self, key: &str) -> String {
        self.inner.uri(key)
    }

    async fn prepare(&self) -> Result<(), BlobError> {
        self.check()
    }

    async fn ping(&self) -> Result<(), BlobError> {
        self.check()
    }
}
