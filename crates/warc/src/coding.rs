//! Decoding of chunked transfer and content codings (RFC 9112, 7.1; RFC 9110, 8.4.1) within a size limit.

use crate::http_error::HttpError;
use flate2::bufread::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use ruzstd::decoding::StreamingDecoder;
use std::io::Read;

/// Buffer size for brotli input and deflate output.
const BUFFER: usize = 1 << 14;
/// Maximum window of the zstd content coding; other uses may have larger ones (RFC 9659).
const ZSTD_WINDOW: u64 = 8 << 20;
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Limit of the output, and tolerance for a missing end.
#[derive(Clone, Copy)]
pub struct Bounds {
    pub max: usize,
    /// True if the crawler truncated the body.
    pub is_truncated: bool,
}

/// Joins the chunks of a body. Returns `None` if it is not chunked: many crawlers store the content and keep the
/// header.
pub fn dechunk(mut body: &[u8], bounds: Bounds) -> Result<Option<Vec<u8>>, HttpError> {
    let mut content = Vec::new();
    let mut is_first = true;
    loop {
        let Some((size, rest)) = chunk_size(body) else {
            return match (is_first, bounds.is_truncated) {
                (true, _) => Ok(None),
                (false, true) => Ok(Some(content)),
                (false, false) => Err(HttpError::Chunks),
            };
        };
        if is_first && !is_chunk(size, rest) {
            return Ok(None);
        }
        if size == 0 {
            return Ok(Some(content));
        }
        if size > rest.len() {
            // Truncated last chunk: its data is as good as a file that ends there.
            if !bounds.is_truncated {
                return if is_first { Ok(None) } else { Err(HttpError::Chunks) };
            }
            content.extend_from_slice(rest);
            return Ok(Some(content));
        }
        content.extend_from_slice(&rest[..size]);
        body = &rest[size..];
        body = body.strip_prefix(b"\r\n").or_else(|| body.strip_prefix(b"\n")).unwrap_or(body);
        is_first = false;
    }
}

/// Returns true if the bytes after a chunk header may be those of a chunk: content may begin with a number, too.
fn is_chunk(size: usize, rest: &[u8]) -> bool {
    let next = rest.get(size..).unwrap_or_default();
    // Empty also if the data or the line break after it is cut.
    let is_end = b"\r\n".starts_with(next) || next.starts_with(b"\r\n") || next.starts_with(b"\n");
    is_end || (size == 0 && is_trailer(next))
}

/// Returns true if the first line begins with the name of a field.
fn is_trailer(body: &[u8]) -> bool {
    let end = memchr::memchr2(b':', b'\n', body).unwrap_or(body.len());
    let (name, rest) = body.split_at(end);
    rest.starts_with(b":") && !name.is_empty() && name.iter().all(u8::is_ascii_graphic)
}

/// Parses a chunk header into the size and the bytes after its line.
fn chunk_size(body: &[u8]) -> Option<(usize, &[u8])> {
    /// Maximum length of the line: hexadecimal size and extension.
    const MAX_LINE: usize = 1024;
    let end = memchr::memchr(b'\n', &body[..body.len().min(MAX_LINE)])?;
    let line = std::str::from_utf8(&body[..end]).ok()?;
    let digits = line.split(';').next().unwrap_or_default().trim();
    let is_size = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    Some((usize::from_str_radix(digits, 16).ok().filter(|_| is_size)?, &body[end + 1..]))
}

/// Decodes one content coding. Returns `None` if the body is not encoded: crawlers store both forms under the same
/// header.
pub fn decode(coding: &str, body: &[u8], bounds: Bounds) -> Result<Option<Vec<u8>>, HttpError> {
    let known = |name: &str| coding.eq_ignore_ascii_case(name);
    let decoded = if known("identity") || coding.is_empty() {
        return Ok(None);
    } else if known("gzip") || known("x-gzip") {
        if !body.starts_with(GZIP) {
            return Ok(None);
        }
        decode_all(body, GZIP, bounds, gunzip)
    } else if known("zstd") {
        if !body.starts_with(ZSTD) {
            return Ok(None);
        }
        decode_all(body, ZSTD, bounds, unzstd)
    } else if known("deflate") {
        // "deflate" means zlib, but some servers send the raw stream.
        let is_zlib =
            body.len() > 1 && body[0] & 0x0f == 8 && u16::from_be_bytes([body[0], body[1]]).is_multiple_of(31);
        decode_unsigned(coding, body, bounds, |body, bounds| inflate(body, bounds, is_zlib))
    } else if known("br") {
        decode_unsigned(coding, body, bounds, unbrotli)
    } else {
        Err(HttpError::UnknownCoding(coding.to_owned()))
    };
    match decoded {
        // Text that fails to decode is plain text.
        Err(HttpError::Coding { .. } | HttpError::UnknownCoding(_)) if is_text(body) => Ok(None),
        decoded => decoded.map(Some),
    }
}

/// Decodes a stream without a signature. `decode` returns the content, and true if the stream ends where the body ends.
///
/// # Errors
///
/// The stream is damaged, or the body is text but not one whole stream: the beginning of a text may be a stream by chance,
/// even an empty one.
fn decode_unsigned(
    coding: &str,
    body: &[u8],
    bounds: Bounds,
    decode: impl Fn(&[u8], Bounds) -> Result<(Vec<u8>, bool), HttpError>,
) -> Result<Vec<u8>, HttpError> {
    let is_text = is_text(body);
    let is_truncated = bounds.is_truncated && !is_text;
    let (content, is_whole) = decode(body, Bounds { is_truncated, ..bounds })?;
    if is_text && !is_whole {
        return Err(HttpError::Coding {
            coding: coding.to_owned(),
            message: "the stream does not end with the body".to_owned(),
        });
    }
    Ok(content)
}

/// Inflates a raw or a zlib stream.
fn inflate(body: &[u8], bounds: Bounds, is_zlib: bool) -> Result<(Vec<u8>, bool), HttpError> {
    let mut stream = Decompress::new(is_zlib);
    let (mut content, mut rest) = (Vec::new(), body);
    loop {
        content.reserve(BUFFER);
        let (consumed, written) = (stream.total_in(), content.len());
        let status = stream.decompress_vec(rest, &mut content, FlushDecompress::None);
        let used = usize::try_from(stream.total_in() - consumed).unwrap_or(rest.len());
        rest = rest.get(used..).unwrap_or_default();
        if content.len() > bounds.max {
            return Err(HttpError::TooLong(bounds.max));
        }
        match status {
            Ok(Status::StreamEnd) => return Ok((content, rest.is_empty())),
            Ok(Status::Ok | Status::BufError) if used > 0 || content.len() > written => {}
            // The body ends before the stream.
            Ok(Status::Ok | Status::BufError) => return Ok((content, false)),
            Err(_) if bounds.is_truncated && !content.is_empty() => return Ok((content, false)),
            Err(error) => return Err(HttpError::Coding { coding: "deflate".to_owned(), message: error.to_string() }),
        }
    }
}

fn unbrotli(body: &[u8], bounds: Bounds) -> Result<(Vec<u8>, bool), HttpError> {
    let mut decoder = brotli_decompressor::Decompressor::new(body, BUFFER);
    let content = read(&mut decoder, bounds, "br")?;
    // After the end of its stream the decoder fails if bytes are left in its buffer.
    let is_whole = matches!(decoder.read(&mut [0]), Ok(0)) && decoder.into_inner().is_empty();
    Ok((content, is_whole))
}

/// Decodes consecutive gzip members or zstd frames and ignores trailing bytes, as browsers do. `decode` decodes the
/// first and returns the number of bytes after it.
fn decode_all(
    body: &[u8],
    magic: &[u8],
    bounds: Bounds,
    decode: impl Fn(&[u8], Bounds) -> Result<(Vec<u8>, usize), HttpError>,
) -> Result<Vec<u8>, HttpError> {
    let mut content = Vec::new();
    let mut rest = body;
    while rest.starts_with(magic) {
        let remaining = Bounds { max: bounds.max - content.len(), ..bounds };
        let (decoded, left) = decode(rest, remaining).map_err(|error| match error {
            HttpError::TooLong(_) => HttpError::TooLong(bounds.max),
            other => other,
        })?;
        content.extend(decoded);
        rest = &rest[rest.len() - left..];
    }
    Ok(content)
}

fn gunzip(body: &[u8], bounds: Bounds) -> Result<(Vec<u8>, usize), HttpError> {
    let mut decoder = GzDecoder::new(body);
    let content = read(&mut decoder, bounds, "gzip")?;
    Ok((content, decoder.into_inner().len()))
}

fn unzstd(body: &[u8], bounds: Bounds) -> Result<(Vec<u8>, usize), HttpError> {
    let mut decoder = StreamingDecoder::new_with_max_window_size(body, ZSTD_WINDOW)
        .map_err(|error| HttpError::Coding { coding: "zstd".to_owned(), message: error.to_string() })?;
    let content = read(&mut decoder, bounds, "zstd")?;
    Ok((content, decoder.into_inner().len()))
}

fn read(decoder: impl Read, bounds: Bounds, coding: &str) -> Result<Vec<u8>, HttpError> {
    let mut content = Vec::new();
    let read = decoder.take(bounds.max as u64 + 1).read_to_end(&mut content);
    if content.len() > bounds.max {
        return Err(HttpError::TooLong(bounds.max));
    }
    match read {
        Ok(_) => Ok(content),
        Err(_) if bounds.is_truncated && !content.is_empty() => Ok(content),
        Err(error) => Err(HttpError::Coding { coding: coding.to_owned(), message: error.to_string() }),
    }
}

/// Returns true if the body starts with text: no control characters except white space.
fn is_text(body: &[u8]) -> bool {
    let start = &body[..body.len().min(512)];
    !start.is_empty() && start.iter().all(|byte| *byte >= b' ' || byte.is_ascii_whitespace())
}
