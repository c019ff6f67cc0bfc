use std::time::Duration;

use time::OffsetDateTime;

/// What storage says of one object.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ObjectMeta {
    pub key: String,
    pub size: u64,
    /// Without quotes. Changes when the content changes.
    pub etag: String,
    pub last_modified: OffsetDateTime,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ListPage {
    pub objects: Vec<ObjectMeta>,
    /// `None` on the last page.
    pub next: Option<String>,
}

/// What a presigned upload allows.
#[derive(Clone, Copy, Debug)]
pub struct PresignPut<'a> {
    pub key: &'a str,
    /// Bytes, exact: the length is among the signed headers.
    pub size: u64,
    pub expires_in: Duration,
    /// Makes two URLs for the same key, size and second differ.
    pub nonce: &'a str,
}
