//! Archived HTTP responses: the block of a `response` record with type `application/http`.

use crate::Fields;
use crate::coding::{self, Bounds};
pub use crate::http_error::HttpError;
use std::borrow::Cow;

/// Maximum number of content codings, more than any server applies; each could be a decompression bomb.
const MAX_CODINGS: usize = 3;
/// Maximum length of a header, more than browsers accept. A field of two bytes takes fifty in memory.
const MAX_HEADER: usize = 256 << 10;

/// HTTP response as received, except that crawlers may have decoded parts.
#[derive(Clone, Debug)]
pub struct Response<'b> {
    pub status: u16,
    pub fields: Fields,
    /// Bytes after the header.
    pub body: &'b [u8],
}

impl<'b> Response<'b> {
    /// Parses a block. A header without an end means an empty body.
    ///
    /// # Errors
    ///
    /// [`HttpError::StatusLine`], and [`HttpError::Header`] for a header of more than 256 KiB.
    pub fn parse(block: &'b [u8]) -> Result<Self, HttpError> {
        let (line, rest) = split_line(block);
        let line = String::from_utf8_lossy(&line[..line.len().min(256)]);
        let mut words = line.split_whitespace();
        let is_http = words.next().is_some_and(|version| version.starts_with("HTTP/"));
        let status = words.next().filter(|_| is_http).and_then(|status| status.parse().ok());
        let status = status.ok_or(HttpError::StatusLine)?;
        let mut body = rest;
        loop {
            let (line, behind) = split_line(body);
            body = behind;
            let length = rest.len() - body.len();
            if length > MAX_HEADER {
                return Err(HttpError::Header(MAX_HEADER));
            }
            if matches!(line, b"" | b"\r") {
                return Ok(Self { status, fields: Fields::parse(&rest[..length]), body });
            }
        }
    }

    /// Returns the body with chunking and content codings decoded where present. With `is_truncated` (by the crawler)
    /// the decodable part counts as the content.
    ///
    /// # Errors
    ///
    /// The body is damaged, has an unknown coding, or exceeds `max` bytes.
    pub fn content(&self, max: usize, is_truncated: bool) -> Result<Cow<'b, [u8]>, HttpError> {
        let bounds = Bounds { max, is_truncated };
        let mut content = Cow::Borrowed(self.body);
        if self.list("transfer-encoding").any(|coding| coding.eq_ignore_ascii_case("chunked"))
            && let Some(chunks) = coding::dechunk(&content, bounds)?
        {
            content = Cow::Owned(chunks);
        }
        // The last listed coding was applied last.
        for coding in self.list("content-encoding").rev().take(MAX_CODINGS) {
            if content.is_empty() {
                break;
            }
            if let Some(decoded) = coding::decode(coding, &content, bounds)? {
                content = Cow::Owned(decoded);
            }
        }
        if content.len() > max {
            return Err(HttpError::TooLong(max));
        }
        Ok(content)
    }

    /// Returns the items of a list-valued field.
    fn list(&self, name: &'static str) -> impl DoubleEndedIterator<Item = &str> {
        self.fields.all(name).flat_map(|value| value.split(',').map(str::trim))
    }
}

/// Splits off the first line without its `\n`.
fn split_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(b'\n', bytes) {
        Some(at) => (&bytes[..at], &bytes[at + 1..]),
        None => (bytes, &[]),
    }
}
