use std::time::Duration;

use time::OffsetDateTime;

/// Maximum number of objects per page of a listing, as in S3.
pub const LIST_PAGE_SIZE: usize = 1000;

/// Metadata of an object.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ObjectMeta {
    pub key: String,
    /// Size in bytes.
    pub size: u64,
    /// ETag without quotes. Changes with the content; two stores may have different ones for the same content.
    pub etag: String,
    /// Time of storing. May be in whole seconds, the resolution of HTTP headers.
    pub last_modified: OffsetDateTime,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ListPage {
    pub objects: Vec<ObjectMeta>,
    /// Value of `after` for the next page; `None` on the last one.
    pub next: Option<String>,
}

/// Parameters of a presigned upload.
#[derive(Clone, Copy, Debug)]
pub struct PresignPut<'a> {
    pub key: &'a str,
    /// Exact size in bytes: the length is among the signed headers.
    pub size: u64,
    /// Lifetime in whole seconds, 1 second to 7 days (a limit of the signature scheme).
    pub expires_in: Duration,
    /// Distinguishes URLs with the same key, size and second.
    pub nonce: &'a str,
}

/// Parameters of a presigned download.
#[derive(Clone, Copy, Debug)]
pub struct PresignGet<'a> {
    pub key: &'a str,
    /// `Content-Disposition` of the response.
    pub disposition: &'a str,
    /// `Content-Type` of the response.
    pub content_type: &'a str,
    /// Lifetime in whole seconds, with the limits of [`PresignPut::expires_in`].
    pub expires_in: Duration,
}
