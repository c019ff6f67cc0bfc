//! In-memory store for tests.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use crate::{
    BlobError, BlobErrorKind, BlobStore, LIST_PAGE_SIZE, ListPage, ObjectMeta, PresignGet, PresignPut, check_key,
};

/// [`BlobStore`] in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    objects: Mutex<BTreeMap<String, (ObjectMeta, Bytes)>>,
}

impl MemoryStore {
    pub fn new() -> Self {
        Self::default()
    }

    fn objects(&self) -> MutexGuard<'_, BTreeMap<String, (ObjectMeta, Bytes)>> {
        // Code under the lock cannot leave the map half changed, so a poisoned lock is still valid.
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl BlobStore for MemoryStore {
    async fn put(&self, key: &str, body: Bytes) -> Result<ObjectMeta, BlobError> {
        check_key(key)?;
        let meta = ObjectMeta {
            key: key.to_owned(),
            size: body.len() as u64,
            etag: hex::encode(&Sha256::digest(&body)[..16]),
            last_modified: OffsetDateTime::now_utc(),
        };
        self.objects().insert(key.to_owned(), (meta.clone(), body));
        Ok(meta)
    }

    async fn get(&self, key: &str, max_bytes: u64) -> Result<Option<(ObjectMeta, Bytes)>, BlobError> {
        check_key(key)?;
        match self.objects().get(key) {
            Some((meta, _)) if meta.size > max_bytes => Err(BlobError::too_large(key, meta.size, max_bytes)),
            found => Ok(found.cloned()),
        }
    }

    async fn get_to_file(&self, key: &str, path: &Path, max_bytes: u64) -> Result<Option<ObjectMeta>, BlobError> {
        let Some((meta, body)) = self.get(key, max_bytes).await? else { return Ok(None) };
        tokio::fs::write(path, body).await.map_err(|error| {
            BlobError::new(BlobErrorKind::Failed, format!("cannot write `{}`", path.display())).with_source(error)
        })?;
        Ok(Some(meta))
    }

    async fn head(&self, key: &str) -> Result<Option<ObjectMeta>, BlobError> {
        check_key(key)?;
        Ok(self.objects().get(key).map(|(meta, _)| meta.clone()))
    }

    async fn delete(&self, key: &str) -> Result<(), BlobError> {
        self.delete_once(key).await
    }

    async fn delete_once(&self, key: &str) -> Result<(), BlobError> {
        check_key(key)?;
        self.objects().remove(key);
        Ok(())
    }

    async fn list(&self, prefix: &str, after: Option<&str>) -> Result<ListPage, BlobError> {
        let start = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        let objects = self.objects();
        let mut matching =
            objects.range::<str, _>((start, Bound::Unbounded)).take_while(|(key, _)| key.starts_with(prefix));
        let page: Vec<ObjectMeta> = matching.by_ref().take(LIST_PAGE_SIZE).map(|(_, (meta, _))| meta.clone()).collect();
        let next = matching.next().and_then(|_| page.last().map(|meta| meta.key.clone()));
        Ok(ListPage { objects: page, next })
    }

    /// Returns a URL that is as unique as a real one, but not served.
    fn presign_put(&self, request: &PresignPut<'_>, now: OffsetDateTime) -> Result<String, BlobError> {
        check_key(request.key)?;
        let expires = (now + request.expires_in).unix_timestamp();
        Ok(format!("memory://bucket/{}?size={}&expires={expires}&nonce={}", request.key, request.size, request.nonce))
    }

    /// Returns a URL that is not served.
    fn presign_get(&self, request: &PresignGet<'_>, now: OffsetDateTime) -> Result<String, BlobError> {
        check_key(request.key)?;
        let expires = (now + request.expires_in).unix_timestamp();
        Ok(format!("memory://bucket/{}?expires={expires}&type={}", request.key, request.content_type))
    }

    fn uri(&self, key: &str) -> String {
        format!("s3://memory/{key}")
    }

    async fn prepare(&self) -> Result<(), BlobError> {
        Ok(())
    }

    async fn ping(&self) -> Result<(), BlobError> {
        Ok(())
    }
}
