//! The blob seam: an S3-like store of objects, seen as the service needs it.

mod error;
mod object;

pub use error::{BlobError, BlobErrorKind};
pub use object::{ListPage, ObjectMeta, PresignPut};

use std::path::Path;

use async_trait::async_trait;
use bytes::Bytes;
use time::OffsetDateTime;

/// A bucket of objects. Keys are ASCII, made by us (never from names that callers choose).
#[async_trait]
pub trait BlobStore: Send + Sync {
    /// Stores the object, replacing one with the same key; visible to every later call.
    async fn put(&self, key: &str, body: Bytes) -> Result<ObjectMeta, BlobError>;

    /// The whole object in memory; `None` when there is none. More than `max_bytes` is `TooLarge`.
    async fn get(&self, key: &str, max_bytes: u64) -> Result<Option<(ObjectMeta, Bytes)>, BlobError>;

    /// Streams the object into a new file at `path`; `None` (and no file) when there is none. More than
    /// `max_bytes` is `TooLarge`, and the file is removed.
    async fn get_to_file(&self, key: &str, path: &Path, max_bytes: u64) -> Result<Option<ObjectMeta>, BlobError>;

    async fn head(&self, key: &str) -> Result<Option<ObjectMeta>, BlobError>;

    /// Removes the object. Removing what is not there is no error.
    async fn delete(&self, key: &str) -> Result<(), BlobError>;

    /// Objects whose key starts with `prefix`, in key order, at most 1,000 a page; pass the page's `next` to go on.
    async fn list(&self, prefix: &str, after: Option<&str>) -> Result<ListPage, BlobError>;

    /// A URL that lets its holder `PUT` exactly `request.size` bytes to the key, once where the store can
    /// enforce it. Pure computation: nothing is sent.
    fn presign_put(&self, request: &PresignPut<'_>, now: OffsetDateTime) -> Result<String, BlobError>;

    /// The `s3://bucket/key` form, for `source_uri`.
    fn uri(&self, key: &str) -> String;

    /// Makes the bucket where it is missing, and proves that the credentials work.
    async fn prepare(&self) -> Result<(), BlobError>;

    /// Cheap proof that the store answers (readiness).
    async fn ping(&self) -> Result<(), BlobError>;
}
