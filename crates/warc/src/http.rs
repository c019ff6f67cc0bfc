//! Archived HTTP responses: the block of a `response` record of the type `application/http`.

use crate::Fields;
use crate::coding::{self, Bounds};
use std::borrow::Cow;

/// More codings than any server applies; each could be a bomb in a bomb.
const MAX_CODINGS: usize = 3;

/// A response as it was received, or nearly so: crawlers differ in what they have undone.
#[derive(Clone, Debug)]
pub struct Response<'b> {
    pub status: u16,
    pub fields: Fields,
    /// Behind the header.
    pub body: &'b [u8],
}

/// What is wrong with a response.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum HttpError {
    #[error("the block does not begin with the status line of an HTTP response")]
    StatusLine,
    #[error("a chunk of the body is cut off or damaged")]
    Chunks,
    #[error("unknown content coding `{0}`")]
    UnknownCoding(String),
    #[error("the content coding `{coding}` cannot be undone: {message}")]
    Coding { coding: String, message: String },
    #[error("the body is longer than {0} bytes")]
    TooLong(usize),
}

impl<'b> Response<'b> {
    /// Takes a block apart. A header without an end has no body behind it.
    ///
    /// # Errors
    ///
    /// [`HttpError::StatusLine`].
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
            if matches!(line, b"" | b"\r") {
                let header = &rest[..rest.len() - body.len()];
                return Ok(Self { status, fields: Fields::parse(header), body });
            }
        }
    }

    /// The body without chunks and content codings, where it still has them. `is_truncated` says that the crawler has
    /// cut it off: what can be decoded is its content.
    ///
    /// # Errors
    ///
    /// When it is damaged, coded in an unknown way, or would be longer than `max` bytes.
    pub fn content(&self, max: usize, is_truncated: bool) -> Result<Cow<'b, [u8]>, HttpError> {
        let bounds = Bounds { max, is_truncated };
        let mut content = Cow::Borrowed(self.body);
        if self.list("transfer-encoding").any(|coding| coding.eq_ignore_ascii_case("chunked"))
            && let Some(chunks) = coding::dechunk(&content, bounds)?
        {
            content = Cow::Owned(chunks);
        }
        // The last one was applied last.
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

    /// The values of a field that is a list.
    fn list(&self, name: &'static str) -> impl DoubleEndedIterator<Item = &str> {
        self.fields.all(name).flat_map(|value| value.split(',').map(str::trim))
    }
}

/// The line without its `\n`, and what stands behind it.
fn split_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(b'\n', bytes) {
        Some(at) => (&bytes[..at], &bytes[at + 1..]),
        None => (bytes, &[]),
    }
}
