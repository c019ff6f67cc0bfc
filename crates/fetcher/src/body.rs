//! Response bodies: streaming decompression with a size limit.

mod gzip;

use std::io;
use std::pin::Pin;
use std::time::Duration;

use async_compression::tokio::bufread::{BrotliDecoder, DeflateDecoder, ZlibDecoder, ZstdDecoder};
use async_compression::zstd::DParameter;
use bytes::{Bytes, BytesMut};
use futures_util::TryStreamExt;
use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, HeaderMap, HeaderValue};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio_util::io::StreamReader;

use crate::error::FetchError;
use crate::http_errors;

/// Content codings that [`read`] decodes.
pub(crate) const ACCEPTED_CODINGS: HeaderValue = HeaderValue::from_static("gzip, deflate, br, zstd");

/// Bytes of a coded body beyond the limit of its content. Headers and empty members have no content, so the limit does not end them.
const MAX_OVERHEAD: usize = 256 * 1024;

/// Largest zstd window, 8 MiB, as the web allows (RFC 9659). A larger one is memory that the sender chooses.
const ZSTD_WINDOW_LOG: u32 = 23;

/// Bytes read between two yields to the scheduler: a body that is already in memory never waits by itself.
const YIELD_INTERVAL: usize = 256 * 1024;

/// Limit of the capacity allocated from `Content-Length` before any data arrives.
const MAX_INITIAL_CAPACITY: u64 = 1024 * 1024;

type Stream = Pin<Box<dyn AsyncBufRead + Send>>;

/// A decompressed body, up to the limit.
pub(crate) struct Body {
    pub bytes: Bytes,
    /// True if the body was longer than the limit.
    pub is_truncated: bool,
}

/// Reads at most `limit` bytes of decompressed content. The rest is not even decompressed.
///
/// Stacked codings are refused. The outer one can expand a small body to any amount of input for the inner one, which need not have
/// any content, so the limit would not end it.
///
/// # Errors
/// `Interrupted`, `Protocol`.
pub(crate) async fn read(response: Response, limit: usize) -> Result<Body, FetchError> {
    let coding = coding(response.headers())?;
    let expected = if coding.is_none() { response.content_length().unwrap_or(0) } else { 0 };
    let mut stream = received(response, limit);
    if let Some(coding) = coding {
        stream = decode(coding, stream).await?;
    }
    let mut bytes = BytesMut::with_capacity(usize::try_from(expected.min(MAX_INITIAL_CAPACITY)).unwrap_or(0));
    let mut next_yield = YIELD_INTERVAL;
    loop {
        let chunk = stream.fill_buf().await.map_err(|error| classify(&error))?;
        if chunk.is_empty() {
            return Ok(Body { bytes: bytes.freeze(), is_truncated: false });
        }
        let remaining = limit - bytes.len();
        let length = chunk.len();
        bytes.extend_from_slice(&chunk[..length.min(remaining)]);
        if length > remaining {
            return Ok(Body { bytes: bytes.freeze(), is_truncated: true });
        }
        stream.consume(length);
        if bytes.len() >= next_yield {
            next_yield = bytes.len() + YIELD_INTERVAL;
            tokio::task::yield_now().await;
        }
    }
}

/// Returns the body as it is sent, cut some bytes after the limit.
fn received(response: Response, limit: usize) -> Stream {
    let chunks = response.bytes_stream().map_err(io::Error::other).and_then(|chunk| async move {
        // A decoder goes on until it has content, however many chunks that takes.
        tokio::task::yield_now().await;
        Ok(chunk)
    });
    Box::pin(StreamReader::new(chunks).take(limit.saturating_add(MAX_OVERHEAD) as u64))
}

/// Returns the content length if the headers declare it, which they cannot for compressed content.
pub(crate) fn declared_length(response: &Response) -> Option<u64> {
    let is_plain = coding(response.headers()).is_ok_and(|coding| coding.is_none());
    response.content_length().filter(|_| is_plain)
}

/// Reads a short body to its end so that the connection can be reused. For a long body, or one that does not arrive within a second,
/// the connection is dropped: the host has answered, and its body is of no use.
pub(crate) async fn drain(response: Response) {
    const MAX_DRAINED: u64 = 16 * 1024;
    const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);
    if response.content_length().is_some_and(|length| length <= MAX_DRAINED) {
        let _ = tokio::time::timeout(DRAIN_TIMEOUT, response.bytes()).await;
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// Returns the coding of the body (RFC 9110, 8.4), if it has one.
fn coding(headers: &HeaderMap) -> Result<Option<Coding>, FetchError> {
    let unsupported = |reason| FetchError::Protocol { reason };
    let unknown = || unsupported("has an unknown content coding");
    let mut found = None;
    for value in headers.get_all(CONTENT_ENCODING) {
        for name in value.to_str().map_err(|_| unknown())?.split(',') {
            let coding = match name.trim().to_ascii_lowercase().as_str() {
                "" | "identity" | "none" => continue,
                "gzip" | "x-gzip" => Coding::Gzip,
                "deflate" => Coding::Deflate,
                "br" => Coding::Brotli,
                "zstd" => Coding::Zstd,
                _ => return Err(unknown()),
            };
            if found.replace(coding).is_some() {
                return Err(unsupported("has more than one content coding"));
            }
        }
    }
    Ok(found)
}

async fn decode(coding: Coding, mut stream: Stream) -> Result<Stream, FetchError> {
    let Some(&first) = stream.fill_buf().await.map_err(|error| classify(&error))?.first() else {
        // Servers also label empty bodies with a coding.
        return Ok(stream);
    };
    Ok(match coding {
        Coding::Gzip => gzip::decode(stream),
        // "deflate" means zlib, but some servers send the raw stream. Only zlib's first byte has method 8 in its low
        // half.
        Coding::Deflate if first & 0x0f == 8 => Box::pin(BufReader::new(ZlibDecoder::new(stream))),
        Coding::Deflate => Box::pin(BufReader::new(DeflateDecoder::new(stream))),
        // "Large window" brotli, not part of RFC 7932, requests up to a gigabyte before the first byte of content.
        Coding::Brotli if first & 0x7f == 0x11 => return Err(undecodable()),
        Coding::Brotli => Box::pin(BufReader::new(BrotliDecoder::new(stream))),
        Coding::Zstd => {
            let window = DParameter::window_log_max(ZSTD_WINDOW_LOG);
            let mut decoder = ZstdDecoder::with_params(stream, &[window]);
            decoder.multiple_members(true);
            Box::pin(BufReader::new(decoder))
        }
    })
}

/// Connection errors pass through the decoders unchanged; all others are decoding errors.
fn classify(error: &io::Error) -> FetchError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<reqwest::Error>()) {
        Some(error) => http_errors::classify(error),
        None => undecodable(),
    }
}

fn undecodable() -> FetchError {
    FetchError::Protocol { reason: "cannot be decompressed" }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn parse(values: &[&str]) -> Result<Option<Coding>, FetchError> {
        coding(&values.iter().map(|value| (CONTENT_ENCODING, HeaderValue::from_str(value).unwrap())).collect())
    }

    #[test]
    fn codings_are_parsed_case_insensitively() {
        assert_eq!(parse(&[]), Ok(None));
        assert_eq!(parse(&["identity"]), Ok(None));
        assert_eq!(parse(&["X-GZIP"]), Ok(Some(Coding::Gzip)));
        assert_eq!(parse(&["identity", " zstd "]), Ok(Some(Coding::Zstd)));
    }

    #[test]
    fn unknown_and_several_codings_are_rejected() {
        for values in [&["compress"][..], &["gzip, br"], &["gzip"; 2], &["gzip;q=1"]] {
            assert!(parse(values).is_err(), "{values:?}");
        }
    }
}
