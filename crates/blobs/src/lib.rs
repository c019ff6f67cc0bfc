//! The blob seam: an S3-like store of objects, seen as the service needs it.

mod error;
mod key;
mod object;

#[cfg(feature = "testing")]
pub mod conformance;
#[cfg(feature = "testing")]
pub mod memory;

pub use error::{BlobError, BlobErrorKind};
pub use key::{MAX_KEY_BYTES, check_key};
pub use object::{LIST_PAGE_SIZE, ListPage, ObjectMeta, PresignPut};

use std::path::Path;

use async_trait::async_trait;
use bytes::Bytes;
use time::OffsetDateTime;

/// A bucket of objects.
///
/// Keys are made by us, never from names that callers choose; a key that [`check_key`] refuses is `Failed` in every
/// method. Methods that talk to storage end in bounded time, with `Unavailable` when it does not answer. A future that
/// is dropped before it ends may or may not have had its effect.
#[async_trait]
pub trait BlobStore: Send + Sync {
    /// Stores the object, replacing one with the same key; visible to every later call. Whoever reads meanwhile sees
    /// the old object or the new one whole, never a mixture. Of concurrent puts to one key, one wins.
    async fn put(&self, key: &str, body: Bytes) -> Result<ObjectMeta, BlobError>;

    /// The whole object in memory; `None` when there is none. More than `max_bytes` is `TooLarge`, and no more than
    /// that is read.
    async fn get(&self, key: &str, max_bytes: u64) -> Result<Option<(ObjectMeta, Bytes)>, BlobError>;

    /// Streams the object into the file at `path` (replacing it); `None` (and no file) when there is none. More than
    /// `max_bytes` is `TooLarge`. After an error or a dropped future there is no file.
    async fn get_to_file(&self, key: &str, path: &Path, max_bytes: u64) -> Result<Option<ObjectMeta>, BlobError>;

    /// What storage says of the object, the same as `list` and `get` say; `None` when there is none.
    async fn head(&self, key: &str) -> Result<Option<ObjectMeta>, BlobError>;

    /// Removes the object. Removing what is not there is no error.
    async fn delete(&self, key: &str) -> Result<(), BlobError>;

    /// Objects whose key starts with `prefix`, in the byte order of keys, at most [`LIST_PAGE_SIZE`] a page. `after`
    /// (a key, there or not) leaves out what is not behind it: pass the page's `next` to go on. Objects stored or
    /// deleted between two pages may or may not be seen; all others are seen exactly once.
    async fn list(&self, prefix: &str, after: Option<&str>) -> Result<ListPage, BlobError>;

    /// A URL that lets its holder `PUT` exactly `request.size` bytes to the key until `now + request.expires_in`, once
    /// where the store can enforce it. Pure computation: nothing is sent. `Unavailable` while the credentials to sign
    /// with are not known yet (they are after `prepare`).
    fn presign_put(&self, request: &PresignPut<'_>, now: OffsetDateTime) -> Result<String, BlobError>;

    /// The `s3://bucket/key` form, for `source_uri`.
    fn uri(&self, key: &str) -> String;

    /// Makes the bucket where it is missing, and proves that the credentials work. Repeatable.
    async fn prepare(&self) -> Result<(), BlobError>;

    /// Cheap proof that the store answers (readiness); not retried.
    async fn ping(&self) -> Result<(), BlobError>;
}
