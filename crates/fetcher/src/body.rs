//! The body of an answer: decompressed on its way, and no longer than allowed.

use std::io;
use std::pin::Pin;

use async_compression::tokio::bufread::{BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder};
use async_compression::zstd::DParameter;
use bytes::{Bytes, BytesMut};
use futures_util::TryStreamExt;
use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, HeaderMap, HeaderValue};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, BufReader};
use tokio_util::io::StreamReader;

use crate::error::FetchError;
use crate::failure;

/// What [`Reader`] undoes.
pub(crate) const ACCEPTED_CODINGS: HeaderValue = HeaderValue::from_static("gzip, deflate, br, zstd");

/// Codings on top of each other. One is usual; each further one multiplies what a small bomb can cost.
const MAX_CODINGS: usize = 2;

/// Windows of zstd beyond 8 MiB are not for the web (RFC 9659): they would be memory that the sender asks for.
const ZSTD_WINDOW_LOG: u32 = 23;

/// After so many bytes the others on this thread get their turn: a body that lies in memory never waits by itself.
const TURN: usize = 256 * 1024;

/// Most that is set aside before anything came.
const MAX_FIRST_CAPACITY: u64 = 1024 * 1024;

type Stream = Pin<Box<dyn AsyncBufRead + Send>>;

/// A body, as far as it was read.
pub(crate) struct Body {
    pub bytes: Bytes,
    /// Whether there was more than the limit.
    pub is_cut: bool,
}

/// Reads at most `limit` bytes of content; what follows is not even decompressed.
///
/// # Errors
/// `Interrupted`, `Protocol`.
pub(crate) async fn read(response: Response, limit: usize) -> Result<Body, FetchError> {
    let codings = codings(response.headers())?;
    let announced = if codings.is_empty() { response.content_length().unwrap_or(0) } else { 0 };
    let mut stream: Stream = Box::pin(StreamReader::new(response.bytes_stream().map_err(io::Error::other)));
    for coding in codings.into_iter().rev() {
        stream = decoded(coding, stream).await?;
    }
    let mut bytes = BytesMut::with_capacity(usize::try_from(announced.min(MAX_FIRST_CAPACITY)).unwrap_or(0));
    let mut turn_ends = TURN;
    loop {
        let chunk = stream.fill_buf().await.map_err(|error| sort(&error))?;
        if chunk.is_empty() {
            return Ok(Body { bytes: bytes.freeze(), is_cut: false });
        }
        let room = limit - bytes.len();
        let taken = chunk.len();
        bytes.extend_from_slice(&chunk[..taken.min(room)]);
        if taken > room {
            return Ok(Body { bytes: bytes.freeze(), is_cut: true });
        }
        stream.consume(taken);
        if bytes.len() >= turn_ends {
            turn_ends = bytes.len() + TURN;
            tokio::task::yield_now().await;
        }
    }
}

/// The length of the content, where the head tells it.
pub(crate) fn announced_length(response: &Response) -> Option<u64> {
    let is_plain = codings(response.headers()).is_ok_and(|codings| codings.is_empty());
    response.content_length().filter(|_| is_plain)
}

/// Reads a short body to its end, so that the connection can be used again. A long one is left with its connection.
pub(crate) async fn drain(response: Response) {
    const SHORT: u64 = 16 * 1024;
    if response.content_length().is_some_and(|length| length <= SHORT) {
        let _ = response.bytes().await;
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// The codings in the order they were applied (RFC 9110, 8.4).
fn codings(headers: &HeaderMap) -> Result<Vec<Coding>, FetchError> {
    let unknown = || FetchError::Protocol { reason: "is in an unknown content coding" };
    let mut codings = Vec::new();
    for value in headers.get_all(CONTENT_ENCODING) {
        for name in value.to_str().map_err(|_| unknown())?.split(',') {
            codings.push(match name.trim().to_ascii_lowercase().as_str() {
                "" | "identity" | "none" => continue,
                "gzip" | "x-gzip" => Coding::Gzip,
                "deflate" => Coding::Deflate,
                "br" => Coding::Brotli,
                "zstd" => Coding::Zstd,
                _ => return Err(unknown()),
            });
        }
    }
    if codings.len() > MAX_CODINGS { Err(unknown()) } else { Ok(codings) }
}

async fn decoded(coding: Coding, mut stream: Stream) -> Result<Stream, FetchError> {
    let Some(&first) = stream.fill_buf().await.map_err(|error| sort(&error))?.first() else {
        // Nothing is nothing in every coding; servers label empty bodies as well.
        return Ok(stream);
    };
    Ok(match coding {
        Coding::Gzip => {
            let mut decoder = GzipDecoder::new(stream);
            decoder.multiple_members(true);
            Box::pin(BufReader::new(decoder))
        }
        // Means zlib; some servers send the bare stream. Only zlib's first byte names method 8 in its low half.
        Coding::Deflate if first & 0x0f == 8 => Box::pin(BufReader::new(ZlibDecoder::new(stream))),
        Coding::Deflate => Box::pin(BufReader::new(DeflateDecoder::new(stream))),
        // "Large window" brotli, no part of RFC 7932, asks for up to a gigabyte before the first byte of content.
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

/// An error of the connection comes through the decoders as it is; all others are the decoders' own.
fn sort(error: &io::Error) -> FetchError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<reqwest::Error>()) {
        Some(error) => failure::sort(error),
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

    fn named(values: &[&str]) -> Result<Vec<Coding>, FetchError> {
        codings(&values.iter().map(|value| (CONTENT_ENCODING, HeaderValue::from_str(value).unwrap())).collect())
    }

    #[test]
    fn codings_are_known_in_every_spelling_and_order() {
        assert_eq!(named(&[]), Ok(vec![]));
        assert_eq!(named(&["identity"]), Ok(vec![]));
        assert_eq!(named(&["X-GZIP"]), Ok(vec![Coding::Gzip]));
        assert_eq!(named(&["gzip, br"]), Ok(vec![Coding::Gzip, Coding::Brotli]));
        assert_eq!(named(&["deflate", " zstd "]), Ok(vec![Coding::Deflate, Coding::Zstd]));
    }

    #[test]
    fn unknown_codings_and_piles_of_them_are_refused() {
        for values in [&["compress"][..], &["gzip, gzip, gzip"], &["gzip"; 3], &["gzip;q=1"]] {
            assert!(named(values).is_err(), "{values:?}");
        }
    }
}
