use super::gzip;
use crate::http::{HttpError, Response};
use flate2::Compression;
use flate2::write::{DeflateEncoder, ZlibEncoder};
use proptest::prelude::*;
use std::io::Write;

const PAGE: &[u8] = b"<html><body>A page about walruses.</body></html>";
/// `PAGE` compressed with the reference brotli encoder.
const BROTLI_PAGE: &[u8] = include_bytes!("page.br");

fn response(fields: &str, body: &[u8]) -> Vec<u8> {
    [b"HTTP/1.1 200 OK\r\n", fields.as_bytes(), b"\r\n", body].concat()
}

fn content(fields: &str, body: &[u8]) -> Result<Vec<u8>, HttpError> {
    Response::parse(&response(fields, body)).unwrap().content(1_000, false).map(|content| content.into_owned())
}

#[test]
fn a_response_is_parsed() {
    let block = b"HTTP/1.0 404 Not Found\nContent-Type: Text/HTML;\n charset=\"koi8-r\"\n\nbody\n\nmore";
    let response = Response::parse(block).unwrap();
    assert_eq!((response.status, response.body), (404, &b"body\n\nmore"[..]));
    assert_eq!(response.fields.get("content-type"), Some("Text/HTML; charset=\"koi8-r\""));
    let cut = Response::parse(b"HTTP/2 200\r\nContent-Type: text/html").unwrap();
    assert_eq!((cut.status, cut.body, cut.fields.get("content-type")), (200, &b""[..], Some("text/html")));
    for block in ["", "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1\r\n\r\n", "HTTP/1.1 OK\r\n\r\n", "ICY 200 OK\r\n\r\n"] {
        assert_eq!(Response::parse(block.as_bytes()).unwrap_err(), HttpError::StatusLine, "{block}");
    }
}

#[test]
fn a_header_is_limited() {
    const LIMIT: usize = 256 << 10;
    let parse = |lines: &[u8]| {
        let block = [b"HTTP/1.1 200 OK\r\n", lines].concat();
        Response::parse(&block).map(|response| response.body.len())
    };
    for lines in [b":\n".repeat(1 << 19), vec![b'x'; 1 << 20], [vec![b'x'; LIMIT], b"\n\n".to_vec()].concat()] {
        assert_eq!(parse(&lines), Err(HttpError::Header(LIMIT)));
    }
    let longest = [vec![b'x'; LIMIT - 2], b"\n\n".to_vec(), vec![b'y'; LIMIT]].concat();
    assert_eq!(parse(&longest), Ok(LIMIT));
}

#[test]
fn chunked_bodies_are_joined() {
    const CHUNKED: &str = "Transfer-Encoding: chunked\r\n";
    assert_eq!(content(CHUNKED, b"4\r\nwalr\r\n0003;x=y\r\nus.\r\n0\r\nTrailer: x\r\n\r\n").unwrap(), b"walrus.");
    assert_eq!(content(CHUNKED, PAGE).unwrap(), PAGE, "already joined");
    assert_eq!(content(CHUNKED, b"4\r\nwalr\r\nzz\r\n"), Err(HttpError::Chunks));
    let cut = response(CHUNKED, b"4\r\nwalr\r\n9\r\nus");
    assert_eq!(*Response::parse(&cut).unwrap().content(100, true).unwrap(), *b"walrus");
    assert_eq!(Response::parse(&cut).unwrap().content(100, false), Err(HttpError::Chunks));
    assert_eq!(content(CHUNKED, b"ffffffffffffffff\r\nx").unwrap(), b"ffffffffffffffff\r\nx", "not chunked");
}

#[test]
fn text_that_begins_with_a_number_is_not_chunked() {
    const CHUNKED: &str = "Transfer-Encoding: chunked\r\n";
    for text in [
        "0\nzero is the first line\n",
        "0\nzero is a number: the first line\n",
        "0\n: zero\n",
        "10\nmore than sixteen bytes follow here\n",
        "4\r\nwalrus\r\n0\r\n\r\n",
        "2023\nfew bytes\n",
    ] {
        assert_eq!(String::from_utf8(content(CHUNKED, text.as_bytes()).unwrap()).unwrap(), text);
    }
    let block = response(CHUNKED, b"10\nmore than sixteen bytes foll");
    let cut = Response::parse(&block).unwrap().content(100, true).unwrap().into_owned();
    assert_eq!(cut, b"10\nmore than sixteen bytes foll");
    for empty in ["0\r\n\r\n", "0\n", "0\r\n", "0\n\n", "0\r\nX-T: 1\r\n\r\n", "0;x=y\r\nX-T:\r\n"] {
        assert_eq!(content(CHUNKED, empty.as_bytes()).unwrap(), b"", "{empty:?}");
    }
    let block = response(CHUNKED, b"4\r\nwalr\r");
    let cut = Response::parse(&block).unwrap().content(100, true).unwrap().into_owned();
    assert_eq!(cut, b"walr", "cut within the line break");
}

#[test]
fn remaining_content_codings_are_decoded() {
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
    zlib.write_all(PAGE).unwrap();
    let mut bare = DeflateEncoder::new(Vec::new(), Compression::fast());
    bare.write_all(PAGE).unwrap();
    let two_members = [gzip(&PAGE[..9]), gzip(&PAGE[9..]), b"trailing".to_vec()].concat();
    let zstd = |bytes: &[u8]| ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest);
    let two_frames = [zstd(&PAGE[..9]), zstd(&PAGE[9..])].concat();
    for (coding, body) in [
        ("zstd", two_frames),
        ("zstd", PAGE.to_vec()),
        ("gzip", gzip(PAGE)),
        ("X-GZIP", two_members),
        ("deflate", zlib.finish().unwrap()),
        ("deflate", bare.finish().unwrap()),
        ("br", BROTLI_PAGE.to_vec()),
        ("identity", PAGE.to_vec()),
        ("gzip, identity", gzip(PAGE)),
        ("br, gzip", gzip(BROTLI_PAGE)),
        // Decoded by the crawler, which kept the header.
        ("gzip", PAGE.to_vec()),
        ("deflate", PAGE.to_vec()),
        ("br", PAGE.to_vec()),
        ("compress", PAGE.to_vec()),
    ] {
        let fields = format!("Content-Encoding: {coding}\r\n");
        assert_eq!(content(&fields, &body).unwrap(), PAGE, "{coding}");
    }
    let both = "Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n";
    let packed = gzip(PAGE);
    let chunked = [format!("{:x}\r\n", packed.len()).as_bytes(), &packed, b"\r\n0\r\n\r\n"].concat();
    assert_eq!(content(both, &chunked).unwrap(), PAGE);
    assert_eq!(content("X-Crawler-Content-Encoding: gzip\r\n", PAGE).unwrap(), PAGE);
    assert_eq!(content("Content-Encoding: zz\r\n", b"\0\x01"), Err(HttpError::UnknownCoding("zz".to_owned())));
}

#[test]
fn text_that_begins_with_a_stream_by_chance_is_not_decoded() {
    let links = "[`axum`]: https://crates.io/crates/axum\n[`tokio`]: https://crates.io/crates/tokio\n";
    let empty_streams = ["3 of 4\n", "5 of 6\n", "7 of 8\n", "9 of 10\n", "; a\n", "= a\n", "? a\n"];
    let long = format!("===== Title =====\n{}", "A line of text.\n".repeat(2_000));
    let cases = empty_streams.map(|text| ("br", text));
    for (coding, text) in
        cases.into_iter().chain([("br", "===== Title =====\n\nText."), ("br", long.as_str()), ("deflate", links)])
    {
        let block = response(&format!("Content-Encoding: {coding}\r\n"), text.as_bytes());
        let response = Response::parse(&block).unwrap();
        for is_truncated in [false, true] {
            let content = response.content(100_000, is_truncated).unwrap();
            assert_eq!(String::from_utf8_lossy(&content), text, "{coding}, truncated: {is_truncated}");
        }
    }
}

#[test]
fn a_truncated_stream_without_a_signature_is_decoded_as_far_as_possible() {
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::none());
    zlib.write_all(&PAGE.repeat(10)).unwrap();
    let mut bare = DeflateEncoder::new(Vec::new(), Compression::none());
    bare.write_all(&PAGE.repeat(10)).unwrap();
    for whole in [zlib.finish().unwrap(), bare.finish().unwrap()] {
        let block = response("Content-Encoding: deflate\r\n", &whole[..whole.len() - 9]);
        let content = Response::parse(&block).unwrap().content(1_000, true).unwrap().into_owned();
        assert!(content.starts_with(PAGE), "{content:?}");
    }
}

#[test]
fn damage_and_bombs_are_errors_and_truncated_bodies_are_decoded() {
    const GZIP: &str = "Content-Encoding: gzip\r\n";
    let packed = gzip(&PAGE.repeat(10));
    let cut = &packed[..packed.len() - 9];
    assert!(matches!(content(GZIP, cut), Err(HttpError::Coding { .. })));
    let block = response(GZIP, cut);
    let decoded = Response::parse(&block).unwrap().content(1_000, true).unwrap();
    assert!(decoded.starts_with(PAGE));
    assert_eq!(content(GZIP, &gzip(&vec![0; 1 << 20])), Err(HttpError::TooLong(1_000)));
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
    zlib.write_all(&vec![0; 1 << 20]).unwrap();
    let bomb = content("Content-Encoding: deflate\r\n", &zlib.finish().unwrap());
    assert_eq!(bomb, Err(HttpError::TooLong(1_000)));
    let many = [gzip(&[b'a'; 600]), gzip(&[b'b'; 600])].concat();
    assert_eq!(content(GZIP, &many), Err(HttpError::TooLong(1_000)));
    assert_eq!(content("", &[b'a'; 1_001]), Err(HttpError::TooLong(1_000)));
}

proptest! {
    #[test]
    fn content_of_any_response_is_within_the_limit(
        begins in prop::sample::select(vec![&b""[..], b"\x1f\x8b\x08\0", b"\x28\xb5\x2f\xfd", b"\x78\x9c", b"a\r\n"]),
        noise in prop::collection::vec(any::<u8>(), 0..300),
        coding in prop::sample::select(vec!["gzip", "deflate", "br", "zstd", "gzip, br, deflate, gzip"]),
        is_chunked in any::<bool>(),
        is_truncated in any::<bool>(),
    ) {
        let body = [begins, &noise].concat();
        let chunked = if is_chunked { "Transfer-Encoding: chunked\r\n" } else { "" };
        let block = response(&format!("{chunked}Content-Encoding: {coding}\r\n"), &body);
        if let Ok(content) = Response::parse(&block).unwrap().content(200, is_truncated) {
            prop_assert!(content.len() <= 200);
        }
    }
}
