use std::path::Path;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use blobs::memory::MemoryStore;
use blobs::{BlobError, BlobErrorKind, BlobStore, ListPage, ObjectMeta, PresignGet, PresignPut};
use bytes::Bytes;
use time::OffsetDateTime;

/// The memory store, which a test can switch off.
#[derive(Default)]
pub struct TestBlobs {
    pub inner: MemoryStore,
    fault: Mutex<Option<BlobErrorKind>>,
    vanishing: Mutex<Option<String>>,
}

impl TestBlobs {
    /// From now on every call fails, except those to [`inner`](Self::inner).
    pub fn fail(&self, kind: BlobErrorKind) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(kind);
    }

    pub fn recover(&self) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Deletes this object after its next `head`, as another process may.
    pub fn vanish_after_head(&self, key: String) {
        *self.vanishing.lock().unwrap_or_else(PoisonError::into_inner) = Some(key);
    }

    fn vanishes(&self, key: &str) -> bool {
        let mut vanishing = self.vanishing.lock().unwrap_or_else(PoisonError::into_inner);
        vanishing.take_if(|vanishing| vanishing.as_str() == key).is_some()
    }

    fn check(&self) -> Result<(), BlobError> {
        let fault = *self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        fault.map_or(Ok(()), |kind| Err(BlobError::new(kind, "the bucket is on fire")))
    }
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
        self.check()?;
        let found = self.inner.head(key).await?;
        if self.vanishes(key) {
            self.inner.delete(key).await?;
        }
        Ok(found)
    }

    async fn delete(&self, key: &str) -> Result<(), BlobError> {
        self.check()?;
        self.inner.delete(key).await
    }

    async fn delete_once(&self, key: &str) -> Result<(), BlobError> {
        self.check()?;
        self.inner.delete_once(key).await
    }

    async fn list(&self, prefix: &str, after: Option<&str>) -> Result<ListPage, BlobError> {
        self.check()?;
        self.inner.list(prefix, after).await
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
