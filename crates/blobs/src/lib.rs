//! Object storage interface of the service.

mod error;
mod key;
mod object;

#[cfg(feature = "testing")]
pub mod conformance;
#[cfg(feature = "testing")]
pub mod memory;

pub use error::{BlobError, BlobErrorKind};
pub use key::{MAX_KEY_BYTES, check_key};
pub use object::{LIST_PAGE_SIZE, ListPage, ObjectMeta, PresignGet, PresignPut};

use std::path::Path;

use async_trait::async_trait;
use bytes::Bytes;
use time::OffsetDateTime;

/// Bucket of objects.
///
/// The service generates the keys, never from names that callers choose. Every method returns `Failed` for a key that
/// [`check_key`] rejects. Methods that access storage return within bounded time, with `Unavailable` if it does not
/// respond. A dropped future may or may not have taken effect.
#[async_trait]
pub trait BlobStore: Send + Sync {
    /// Stores the object, replacing one with the same key. Visible to every later call. Concurrent readers see the
    /// complete old or new object. Of concurrent puts to one key, one wins.
    async fn put(&self, key: &str, body: Bytes) -> Result<ObjectMeta, BlobError>;

    /// Returns the whole object in memory, or `None` if it does not exist. A larger object than `max_bytes` is
    /// `TooLarge` and is not read further. `Corrupt` if the bytes do not match the checksum of the store.
    async fn get(&self, key: &str, max_bytes: u64) -> Result<Option<(ObjectMeta, Bytes)>, BlobError>;

    /// Streams the object into the file at `path`, replacing it. Returns `None` without a file if the object does not
    /// exist. Errors are those of `get`. After an error or a dropped future there is no file.
    async fn get_to_file(&self, key: &str, path: &Path, max_bytes: u64) -> Result<Option<ObjectMeta>, BlobError>;

    /// Returns the metadata of the object, equal to that of `list` and `get`, or `None` if it does not exist.
    async fn head(&self, key: &str) -> Result<Option<ObjectMeta>, BlobError>;

    /// Deletes the object. Succeeds if it does not exist.
    async fn delete(&self, key: &str) -> Result<(), BlobError>;

    /// Deletes the object like `delete`, without retries. For callers that check before each attempt that the object is still the one to
    /// delete.
    async fn delete_once(&self, key: &str) -> Result<(), BlobError>;

    /// Lists the objects whose key starts with `prefix` in byte order of keys, at most [`LIST_PAGE_SIZE`] per page.
    /// `after`, a key that need not exist, skips all keys up to it: pass the previous page's `next`. Objects stored or
    /// deleted between two pages may or may not appear; all others appear exactly once.
    async fn list(&self, prefix: &str, after: Option<&str>) -> Result<ListPage, BlobError>;

    /// Returns a URL that authorizes a `PUT` of exactly `request.size` bytes to the key until
    /// `now + request.expires_in`, and only once if the store can enforce that. Pure computation without I/O.
    /// `Unavailable` while the signing credentials are unknown; they are known after `prepare`.
    fn presign_put(&self, request: &PresignPut<'_>, now: OffsetDateTime) -> Result<String, BlobError>;

    /// Returns a URL that authorizes any number of `GET`s of the object until `now + request.expires_in`, with the stated response
    /// headers. Pure computation; errors are those of `presign_put`.
    fn presign_get(&self, request: &PresignGet<'_>, now: OffsetDateTime) -> Result<String, BlobError>;

    /// Returns the URI `s3://bucket/key`, used as `source_uri`.
    fn uri(&self, key: &str) -> String;

    /// Creates the bucket if it is missing and verifies the credentials. Idempotent.
    async fn prepare(&self) -> Result<(), BlobError>;

    /// Checks cheaply that the store responds (readiness). Not retried.
    async fn ping(&self) -> Result<(), BlobError>;
}
