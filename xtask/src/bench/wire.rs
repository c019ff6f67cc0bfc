//! HTTP/1.1 on the wire: requests as bytes, and responses parsed as they arrive.

use anyhow::{Context, bail};
use std::time::Duration;

/// Limit of a response's head, and of a line between chunks.
const MAX_HEAD: usize = 64 << 10;

/// Returns a request with an API key; an empty `body` is a `GET`.
pub fn request(host: &str, path: &str, key: &str, body: &[u8]) -> Vec<u8> {
    let method = if body.is_empty() { "GET" } else { "POST" };
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {key}\r\n");
    if !body.is_empty() {
        head.push_str(&format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len()));
    }
    head.push_str("\r\n");
    [head.as_bytes(), body].concat()
}

/// Response that is being received. Its body is counted and dropped.
#[derive(Default)]
pub struct Response {
    pub status: u16,
    pub retry_after: Option<Duration>,
    /// True if the connection cannot be used again.
    pub closes: bool,
    /// Bytes received so far.
    pub bytes: usize,
    line: Vec<u8>,
    part: Part,
}

#[derive(Clone, Copy, Default)]
enum Part {
    #[default]
    Head,
    Body(usize),
    ChunkSize,
    /// Remaining bytes of a chunk with its line break.
    Chunk(usize),
    Trailer,
    End,
}

impl Response {
    /// Takes received bytes and returns true when the response is complete.
    ///
    /// # Errors
    ///
    /// Returns an error for bytes that are not a response of known length.
    pub fn feed(&mut self, mut bytes: &[u8]) -> anyhow::Result<bool> {
        self.bytes += bytes.len();
        while !bytes.is_empty() {
            bytes = match self.part {
                Part::Head => self.take_line(bytes, b"\r\n\r\n", Self::read_head)?,
                Part::Body(left) => {
                    let taken = left.min(bytes.len());
                    self.part = if taken == left { Part::End } else { Part::Body(left - taken) };
                    &bytes[taken..]
                }
                Part::ChunkSize => self.take_line(bytes, b"\r\n", Self::read_chunk_size)?,
                Part::Chunk(left) => {
                    let taken = left.min(bytes.len());
                    self.part = if taken == left { Part::ChunkSize } else { Part::Chunk(left - taken) };
                    &bytes[taken..]
                }
                Part::Trailer => self.take_line(bytes, b"\r\n", |response, line| {
                    response.part = if line.trim_ascii().is_empty() { Part::End } else { Part::Trailer };
                    Ok(())
                })?,
                Part::End => bail!("{} bytes follow the response", bytes.len()),
            };
        }
        Ok(matches!(self.part, Part::End))
    }

    /// Collects bytes up to `end`, reads them when they are complete, and returns the rest.
    fn take_line<'b>(
        &mut self,
        bytes: &'b [u8],
        end: &[u8],
        read: impl FnOnce(&mut Self, &[u8]) -> anyhow::Result<()>,
    ) -> anyhow::Result<&'b [u8]> {
        for (at, byte) in bytes.iter().enumerate() {
            self.line.push(*byte);
            if self.line.ends_with(end) {
                let line = std::mem::take(&mut self.line);
                read(self, &line)?;
                return Ok(&bytes[at + 1..]);
            }
        }
        if self.line.len() > MAX_HEAD {
            bail!("the head of the response exceeds {MAX_HEAD} bytes");
        }
        Ok(&[])
    }

    fn read_head(&mut self, head: &[u8]) -> anyhow::Result<()> {
        let head = std::str::from_utf8(head).context("the head of the response is not text")?;
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|status| status.parse().ok());
        self.status = status.with_context(|| format!("no status in `{}`", head.trim_end()))?;
        let bodiless = matches!(self.status, 204 | 304);
        self.part = if bodiless { Part::End } else { Part::Head };
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => {
                    let length = value.parse().with_context(|| format!("content-length `{value}`"))?;
                    self.part = if length == 0 { Part::End } else { Part::Body(length) };
                }
                "transfer-encoding" if value.eq_ignore_ascii_case("chunked") => self.part = Part::ChunkSize,
                "connection" => self.closes = value.eq_ignore_ascii_case("close"),
                "retry-after" => self.retry_after = value.parse().ok().map(Duration::from_secs),
                _ => (),
            }
        }
        if matches!(self.part, Part::Head) {
            bail!("the response has no length");
        }
        Ok(())
    }

    fn read_chunk_size(&mut self, line: &[u8]) -> anyhow::Result<()> {
        let line = String::from_utf8_lossy(line);
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).with_context(|| format!("chunk size `{size}`"))?;
        self.part = if size == 0 { Part::Trailer } else { Part::Chunk(size + 2) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may end early")]
    use super::{Response, request};
    use std::time::Duration;

    /// Feeds a response in parts of `size` bytes.
    fn fed(text: &str, size: usize) -> Response {
        let mut response = Response::default();
        let parts: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
        for (number, part) in parts.iter().enumerate() {
            assert_eq!(response.feed(part).unwrap(), number + 1 == parts.len(), "{text} in parts of {size}");
        }
        response
    }

    #[test]
    fn responses_end_where_their_length_says() {
        for size in [1, 2, 7, 1_000] {
            let plain = fed("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", size);
            assert_eq!((plain.status, plain.closes), (200, false));
            assert_eq!(fed("HTTP/1.1 204 No Content\r\n\r\n", size).status, 204);
            let chunked =
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;x\r\nhel\r\n\r\na\r\n0123456789\r\n0\r\n\r\n";
            assert_eq!(fed(chunked, size).bytes, chunked.len());
        }
    }

    #[test]
    fn refusals_name_their_delay() {
        let refused = fed("HTTP/1.1 503 X\r\nretry-after: 2\r\nconnection: close\r\ncontent-length: 0\r\n\r\n", 9);
        assert_eq!((refused.status, refused.closes), (503, true));
        assert_eq!(refused.retry_after, Some(Duration::from_secs(2)));
    }

    #[test]
    fn malformed_responses_are_errors() {
        for text in ["HTTP/1.1 200 OK\r\n\r\n", "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nab"] {
            Response::default().feed(text.as_bytes()).unwrap_err();
        }
    }

    #[test]
    fn requests_have_the_length_of_their_body() {
        let text = String::from_utf8(request("h", "/p", "k", b"{}")).unwrap();
        assert!(text.starts_with("POST /p HTTP/1.1\r\nhost: h\r\nauthorization: Bearer k\r\n"), "{text}");
        assert!(text.ends_with("content-length: 2\r\n\r\n{}"), "{text}");
        assert!(request("h", "/p", "k", b"").starts_with(b"GET /p "));
    }
}
