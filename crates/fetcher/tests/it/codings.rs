use std::io::Write;
use std::time::Duration;

use fetcher::FetchError;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use crate::site::{Piece, Site, response};
use crate::support::{fetch, fetch_once, fetcher, options};

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn zlib(content: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn deflate(content: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn brotli_with(content: &[u8], is_large_window: bool) -> Vec<u8> {
    let params = brotli::enc::BrotliEncoderParams {
        large_window: is_large_window,
        lgwin: if is_large_window { 26 } else { 22 },
        quality: 5,
        ..Default::default()
    };
    let mut out = Vec::new();
    brotli::BrotliCompress(&mut &*content, &mut out, &params).unwrap();
    out
}

fn brotli(content: &[u8]) -> Vec<u8> {
    brotli_with(content, false)
}

fn zstd(content: &[u8]) -> Vec<u8> {
    zstd::encode_all(content, 3).unwrap()
}

async fn site_with_coding(coding: &str, body: &[u8]) -> Site {
    let headers = ["Content-Type: text/html", &format!("Content-Encoding: {coding}")];
    Site::serving(response("200 OK", &headers, body)).await
}

const UNDECODABLE: FetchError = FetchError::Protocol { reason: "cannot be decompressed" };

#[tokio::test]
async fn every_coding_is_decoded() {
    let content = "<p>words, and more words of a page</p>\n".repeat(2000).into_bytes();
    for (coding, body) in [
        ("gzip", gzip(&content)),
        ("x-gzip", gzip(&content)),
        ("GZIP", [gzip(&content[..1000]), gzip(&content[1000..])].concat()),
        ("deflate", zlib(&content)),
        ("deflate", deflate(&content)),
        ("br", brotli(&content)),
        ("zstd", zstd(&content)),
        ("zstd", [zstd(&content[..1000]), zstd(&content[1000..])].concat()),
        ("identity", content.clone()),
    ] {
        let site = site_with_coding(coding, &body).await;
        let page = fetch_once(site.url("/")).await.unwrap();
        assert!(page.body == content, "{coding}");
    }
}

#[tokio::test]
async fn bytes_after_the_end_of_a_gzip_body_are_ignored() {
    let (first, second) = (gzip(b"<p>words of "), gzip(b"a page</p>"));
    for trailing in [&b"\n"[..], b"\r\n", &[0; 600], b"\x1f", b"\x1f\n", b"<!-- cached -->"] {
        for content in [[first.as_slice(), &second].concat(), gzip(b"<p>words of a page</p>")] {
            let site = site_with_coding("gzip", &[content.as_slice(), trailing].concat()).await;
            let page = fetch_once(site.url("/")).await.map(|page| page.body);
            assert_eq!(page, Ok("<p>words of a page</p>".into()), "{trailing:?}");
        }
    }
    let damaged = site_with_coding("gzip", &[first.as_slice(), &second[..12]].concat()).await;
    assert_eq!(fetch_once(damaged.url("/")).await.err(), Some(UNDECODABLE));
}

#[tokio::test]
async fn a_gzip_body_may_arrive_byte_by_byte() {
    let body = [gzip(b"<p>words of "), gzip(b""), gzip(b"a page</p>"), b"\n".to_vec()].concat();
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n".to_vec();
    let parts = body.into_iter().flat_map(|byte| [Piece::Pause(Duration::from_millis(1)), Piece::Bytes(vec![byte])]);
    let pieces: Vec<Piece> = std::iter::once(Piece::Bytes(head)).chain(parts).collect();
    let site = Site::start(move |_, _| pieces.clone()).await;
    assert_eq!(fetch_once(site.url("/")).await.unwrap().body, "<p>words of a page</p>");
}

#[tokio::test]
async fn an_empty_body_is_valid_in_every_coding() {
    for coding in ["gzip", "deflate", "br", "zstd"] {
        let site = site_with_coding(coding, b"").await;
        assert_eq!(fetch_once(site.url("/")).await.unwrap().body, "", "{coding}");
    }
}

#[tokio::test]
async fn truncated_invalid_and_unknown_codings_are_errors() {
    let content = "words ".repeat(5000).into_bytes();
    for (coding, whole) in
        [("gzip", gzip(&content)), ("deflate", zlib(&content)), ("br", brotli(&content)), ("zstd", zstd(&content))]
    {
        let cut = site_with_coding(coding, &whole[..whole.len() / 2]).await;
        assert_eq!(fetch_once(cut.url("/")).await.err(), Some(UNDECODABLE), "{coding} truncated");
        let noise = site_with_coding(coding, b"<p>never compressed at all</p>").await;
        assert_eq!(fetch_once(noise.url("/")).await.err(), Some(UNDECODABLE), "{coding} invalid");
    }
    for coding in ["compress", "gzip, br", "aes128gcm"] {
        let site = site_with_coding(coding, b"x").await;
        assert!(matches!(fetch_once(site.url("/")).await, Err(FetchError::Protocol { .. })), "{coding}");
    }
}

#[tokio::test]
async fn the_size_limit_applies_to_decompressed_content() {
    let limit = options().max_bytes;
    for (length, fits) in [(limit - 1, true), (limit, true), (limit + 1, false)] {
        let content = vec![b'x'; length];
        for (coding, body) in [
            ("identity", content.clone()),
            ("gzip", gzip(&content)),
            ("deflate", zlib(&content)),
            ("br", brotli(&content)),
            ("zstd", zstd(&content)),
        ] {
            let site = site_with_coding(coding, &body).await;
            let fetched = fetch_once(site.url("/")).await.map(|page| page.body.len());
            let expected = if fits { Ok(length) } else { Err(FetchError::TooLarge { limit }) };
            assert_eq!(fetched, expected, "{coding} {length}");
        }
    }
}

#[tokio::test]
async fn decompression_bombs_are_aborted_at_the_limit() {
    let zeros = vec![0; 64 * 1024 * 1024];
    for (coding, bomb) in [("gzip", gzip(&zeros)), ("zstd", zstd(&zeros)), ("br", brotli(&zeros))] {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: {coding}\r\n\r\n");
        let pieces = vec![Piece::Bytes(head.into_bytes()), Piece::Bytes(bomb)];
        let site = Site::start(move |_, _| pieces.clone()).await;
        let limit = options().max_bytes;
        let started = std::time::Instant::now();
        assert_eq!(fetch_once(site.url("/")).await.err(), Some(FetchError::TooLarge { limit }), "{coding}");
        assert!(started.elapsed() < std::time::Duration::from_secs(2), "{coding} {:?}", started.elapsed());
    }
}

/// Names in the header and empty members have no content, so the limit of the content does not end them.
#[tokio::test]
async fn bodies_without_content_are_limited_too() {
    let limit = 2 * options().max_bytes;
    let page = gzip(b"<p>words of a page</p>");
    let named = |length: usize| {
        let mut encoder = flate2::GzBuilder::new().filename(vec![b'x'; length]).write(Vec::new(), Compression::best());
        encoder.write_all(b"<p>words of a page</p>").unwrap();
        encoder.finish().unwrap()
    };
    let empty = gzip(b"");
    let members = |length: usize| [empty.repeat(length / empty.len()), page.clone()].concat();
    for (short, long) in [(named(1_000), named(limit)), (members(1_000), members(limit))] {
        let site = site_with_coding("gzip", &short).await;
        assert_eq!(fetch_once(site.url("/")).await.unwrap().body, "<p>words of a page</p>");
        let site = site_with_coding("gzip", &long).await;
        assert_ne!(fetch_once(site.url("/")).await.map(|page| page.body), Ok("<p>words of a page</p>".into()));
    }
}

#[tokio::test]
async fn a_declared_length_over_the_limit_is_rejected_without_reading() {
    let site = Site::start(|_, _| {
        vec![
            Piece::Bytes(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99999999\r\n\r\n".to_vec()),
            Piece::Pause(std::time::Duration::from_secs(60)),
        ]
    })
    .await;
    let started = std::time::Instant::now();
    assert!(matches!(fetch_once(site.url("/")).await, Err(FetchError::TooLarge { .. })));
    assert!(started.elapsed() < std::time::Duration::from_secs(2));
}

/// A frame may request a window of any size, which is memory allocated before there is any content.
#[tokio::test]
async fn oversized_windows_are_rejected() {
    let content = "words ".repeat(5000).into_bytes();
    let large = brotli_with(&content, true);
    let site = site_with_coding("br", &large).await;
    assert_eq!(fetch_once(site.url("/")).await.err(), Some(UNDECODABLE));

    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
    encoder.window_log(27).unwrap();
    encoder.include_contentsize(false).unwrap();
    encoder.write_all(&content).unwrap();
    let site = site_with_coding("zstd", &encoder.finish().unwrap()).await;
    assert_eq!(fetch_once(site.url("/")).await.err(), Some(UNDECODABLE));

    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
    encoder.window_log(23).unwrap();
    encoder.write_all(&content).unwrap();
    let site = site_with_coding("zstd", &encoder.finish().unwrap()).await;
    assert!(fetch(&fetcher(options()), site.url("/")).await.is_ok());
}
