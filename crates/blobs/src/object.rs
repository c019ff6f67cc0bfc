use std::time::Duration;

use time::OffsetDateTime;

/// Objects on one page of a listing, at most (what S3 allows).
pub const LIST_PAGE_SIZE: usize = 1000;

/// What storage says of one object.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ObjectMeta {
    pub key: String,
    /// Bytes.
    pub size: u64,
    /// Without quotes. Changes when the content changes; two stores may give different ones for the same content.
    pub etag: String,
    /// When the object was stored; whole seconds at worst, because that is what an HTTP header can say.
    pub last_modified: OffsetDateTime,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ListPage {
    pub objects: Vec<ObjectMeta>,
    /// What to pass as `after` for the next page; `None` on the last one.
    pub next: Option<String>,
}

/// What a presigned upload allows.
#[derive(Clone, Copy, Debug)]
pub struct PresignPut<'a> {
    pub key: &'a str,
    /// Bytes, exact: the length is among the signed headers.
    pub size: u64,
    /// Whole seconds count; at least 1 second, at most 7 days (a limit of the signature scheme).
    pub expires_in: Duration,
    /// Makes two URLs for the same key, size and second differ.
    pub nonce: &'a str,
}
