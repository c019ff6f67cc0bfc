//! Chunked transfer and content codings (RFC 9112, 7.1; RFC 9110, 8.4.1), undone within a bound.

use crate::http::HttpError;
use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};
use ruzstd::decoding::StreamingDecoder;
use std::io::Read;

/// Room for the window of brotli's input.
const BROTLI_BUFFER: usize = 1 << 14;
/// Of the content coding; other uses may have larger ones (RFC 9659).
const ZSTD_WINDOW: u64 = 8 << 20;
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// How much may come out, and whether an end that is missing is forgiven.
#[derive(Clone, Copy)]
pub struct Bounds {
    pub max: usize,
    /// The crawler itself has cut the body off.
    pub is_truncated: bool,
}

/// The content of chunks; `None` where there are none: many crawlers store the content and leave the header.
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
        if size == 0 {
            return Ok(Some(content));
        }
        if size > rest.len() {
            // The last chunk, cut off: what is there is as good as a file that ends so.
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

/// A chunk's size, and what stands behind its line.
fn chunk_size(body: &[u8]) -> Option<(usize, &[u8])> {
    /// Hexadecimal digits of a size, and an extension.
    const LONGEST: usize = 1024;
    let end = memchr::memchr(b'\n', &body[..body.len().min(LONGEST)])?;
    let line = std::str::from_utf8(&body[..end]).ok()?;
    let digits = line.split(';').next().unwrap_or_default().trim();
    let is_size = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    Some((usize::from_str_radix(digits, 16).ok().filter(|_| is_size)?, &body[end + 1..]))
}

/// Undoes one content coding; `None` where the body is not coded so: crawlers store both forms under the same header.
pub fn decode(coding: &str, body: &[u8], bounds: Bounds) -> Result<Option<Vec<u8>>, HttpError> {
    let known = |name: &str| coding.eq_ignore_ascii_case(name);
    let decoded = if known("identity") || coding.is_empty() {
        return Ok(None);
    } else if known("gzip") || known("x-gzip") {
        if !body.starts_with(GZIP) {
            return Ok(None);
        }
        series(body, GZIP, bounds, gunzip)
    } else if known("zstd") {
        if !body.starts_with(ZSTD) {
            return Ok(None);
        }
        series(body, ZSTD, bounds, unzstd)
    } else if known("deflate") {
        // By the book zlib's form; some servers send the bare stream.
        let is_zlib =
            body.len() > 1 && body[0] & 0x0f == 8 && u16::from_be_bytes([body[0], body[1]]).is_multiple_of(31);
        if is_zlib {
            read(ZlibDecoder::new(body), bounds, coding)
        } else {
            read(DeflateDecoder::new(body), bounds, coding)
        }
    } else if known("br") {
        read(brotli_decompressor::Decompressor::new(body, BROTLI_BUFFER), bounds, coding)
    } else {
        Err(HttpError::UnknownCoding(coding.to_owned()))
    };
    match decoded {
        // Neither of these two has a mark to know it by; text that is no such stream is text.
        Err(HttpError::Coding { .. } | HttpError::UnknownCoding(_)) if is_text(body) => Ok(None),
        decoded => decoded.map(Some),
    }
}

/// One gzip member or zstd frame after the other; what else stands behind them is passed over, as browsers do.
/// `decode` decodes the first and says how many bytes stand behind it.
fn series(
    body: &[u8],
    magic: &[u8],
    bounds: Bounds,
    decode: impl Fn(&[u8], Bounds) -> Result<(Vec<u8>, usize), HttpError>,
) -> Result<Vec<u8>, HttpError> {
    let mut content = Vec::new();
    let mut rest = body;
    while rest.starts_with(magic) {
        let left = Bounds { max: bounds.max - content.len(), ..bounds };
        let (decoded, behind) = decode(rest, left).map_err(|error| match error {
            HttpError::TooLong(_) => HttpError::TooLong(bounds.max),
            other => other,
        })?;
        content.extend(decoded);
        rest = &rest[rest.len() - behind..];
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

/// Whether the start is text: no control characters but white space.
fn is_text(body: &[u8]) -> bool {
    let start = &body[..body.len().min(512)];
    !start.is_empty() && start.iter().all(|byte| *byte >= b' ' || byte.is_ascii_whitespace())
}
