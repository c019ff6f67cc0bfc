use super::{gzip, read, record, summary};
use crate::Reader;
use std::io::{self, Read};

#[test]
fn records_have_fields_block_and_offset() {
    let (first, second) = (record("warcinfo", b"a: b\r\n"), record("response", b"HTTP/1.1 200 OK\r\n\r\nbody"));
    let entries = read(&[first.clone(), second].concat());
    assert_eq!(entries.len(), 2);
    assert_eq!((entries[1].number, entries[1].offset), (2, first.len() as u64));
    let record = entries[1].record.as_ref().unwrap();
    assert_eq!(record.block, b"HTTP/1.1 200 OK\r\n\r\nbody");
    assert_eq!(record.target_uri(), Some("https://example.com/response"), "without the brackets of WARC 1.0");
    assert_eq!((record.kind(), record.date()), ("response", Some("2026-01-05T10:00:00Z")));
    assert!(!record.is_truncated());
}

#[test]
fn any_distribution_over_gzip_members_is_equivalent() {
    let records: Vec<Vec<u8>> = (0..20).map(|number| record(&format!("kind-{number}"), &[b'x'; 300])).collect();
    let plain = records.concat();
    let expected = summary(&plain);
    assert!(expected.len() == 20 && expected.iter().all(Result::is_ok));

    let each: Vec<Vec<u8>> = records.iter().map(|record| gzip(record)).collect();
    assert_eq!(summary(&each.concat()), expected);
    assert_eq!(summary(&gzip(&plain)), expected);
    let blocks: Vec<Vec<u8>> = plain.chunks(137).map(gzip).collect();
    assert_eq!(summary(&blocks.concat()), expected, "members of arbitrary length");

    let offsets: Vec<u64> = read(&each.concat()).iter().map(|entry| entry.offset).collect();
    assert_eq!(offsets[..2], [0, each[0].len() as u64], "offsets are positions of members in the file");
}

#[test]
fn bare_line_feeds_missing_line_breaks_and_padding_are_accepted() {
    let archive =
        b"WARC/0.18\nWARC-Type: a\nContent-Length: 2\n\nxy\n\nWARC/1.1\r\nwarc-type: b\r\nCONTENT-LENGTH: 0\r\n\r\n\
                    WARC/1.0\r\nWARC-Type: c\r\nContent-Length: 1\r\n\r\nz\r\n\r\n\r\n\0\0\0\0\0\0";
    assert_eq!(summary(archive), ["a", "b", "c"].map(|kind| Ok(kind.to_owned())));
    let padded = [gzip(&record("a", b"1")), vec![0; 512]].concat();
    assert_eq!(summary(&padded), [Ok("a".to_owned())]);
    assert_eq!(summary(b""), []);
}

/// Yields one byte at a time, with interruptions, and finally an error.
struct Slow<'a>(&'a [u8], bool);

impl Read for Slow<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        match self.0.split_first() {
            Some((first, rest)) => {
                (into[0], self.0) = (*first, rest);
                Ok(1)
            }
            None => Err(io::Error::other("the disk is gone")),
        }
    }
}

#[test]
fn an_input_error_is_returned_after_valid_records() {
    for archive in [record("a", b"12345"), gzip(&record("a", b"12345"))] {
        let mut two = archive.clone();
        two.extend_from_slice(&archive[..archive.len() / 2]);
        let mut reader = Reader::new(Slow(&two, false), 100);
        let mut read = 0;
        let error = loop {
            match reader.next_record() {
                Ok(entry) => read += usize::from(entry.unwrap().record.is_ok()),
                Err(error) => break error,
            }
        };
        assert_eq!((read, error.to_string()), (1, "the disk is gone".to_owned()));
    }
}
