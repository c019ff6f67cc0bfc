#![expect(clippy::unwrap_used, reason = "a test may end early")]

mod archives;
mod hostile;
mod responses;

use crate::{Damage, Entry, Reader};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

const MAX_BLOCK: usize = 10_000;

/// Builds a record with a declared length, correct or not.
fn claiming(kind: &str, length: u64, block: &[u8]) -> Vec<u8> {
    let header = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: <https://example.com/{kind}>\r\n\
         WARC-Date: 2026-01-05T10:00:00Z\r\nContent-Length: {length}\r\n\r\n"
    );
    [header.as_bytes(), block, b"\r\n\r\n"].concat()
}

fn record(kind: &str, block: &[u8]) -> Vec<u8> {
    claiming(kind, block.len() as u64, block)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn read(archive: &[u8]) -> Vec<Entry> {
    let mut reader = Reader::new(archive, MAX_BLOCK);
    std::iter::from_fn(|| reader.next_record().unwrap()).collect()
}

/// Returns the kind of each record, or its damage.
fn summary(archive: &[u8]) -> Vec<Result<String, Damage>> {
    let entries = read(archive);
    assert!(entries.iter().zip(1..).all(|(entry, number)| entry.number == number));
    entries.into_iter().map(|entry| entry.record.map(|record| record.kind().to_owned())).collect()
}
