use super::{MAX_BLOCK, claiming, gzip, read, record, summary};
use crate::{Damage, Reader};
use proptest::prelude::*;

fn ok(kind: &str) -> Result<String, Damage> {
    Ok(kind.to_owned())
}

#[test]
fn a_truncated_last_record_is_reported() {
    let whole = [record("a", b"1"), record("b", &[b'x'; 100])].concat();
    let cut = &whole[..whole.len() - 50];
    assert_eq!(summary(cut), [ok("a"), Err(Damage::CutOff { found: 54, length: 100 })]);
    let in_header = &whole[..whole.len() - 110];
    assert!(matches!(summary(in_header)[1], Err(Damage::Header(_))));

    let packed = [gzip(&record("a", b"1")), gzip(&record("b", &[b'x'; 100]))].concat();
    let of_packed = summary(&packed[..packed.len() - 12]);
    assert_eq!(of_packed[0], ok("a"));
    assert!(of_packed.len() == 2 && of_packed[1].is_err(), "{of_packed:?}");
}

#[test]
fn a_length_too_great_damages_one_record() {
    let c = record("c", b"3");
    // From the first byte of the next record to the end of its header, and beyond it.
    let to_header_end = "short\r\n\r\n".len() + c.len() - "3\r\n\r\n".len();
    for wrong in (10..=to_header_end as u64).chain([200, 1_000]) {
        let archive = [record("a", b"1"), claiming("b", wrong, b"short"), c.clone(), record("d", b"4")].concat();
        let seen = read(&archive);
        let of_c = seen[2].record.as_ref().unwrap();
        assert_eq!(of_c.target_uri(), Some("https://example.com/c"), "{wrong}");
        assert_eq!(of_c.date(), Some("2026-01-05T10:00:00Z"), "{wrong}");
        assert_eq!(summary(&archive), [ok("a"), Err(Damage::WrongLength(wrong)), ok("c"), ok("d")], "{wrong}");
    }
    let packed: Vec<u8> =
        [claiming("b", 1_000, b"short"), record("c", b"3")].iter().flat_map(|record| gzip(record)).collect();
    assert_eq!(summary(&packed), [Err(Damage::CutOff { found: 9, length: 1_000 }), ok("c")]);
}

#[test]
fn a_length_that_ends_in_a_long_line_damages_one_record() {
    let long = vec![b'x'; 200_000];
    let archive = [record("a", b"1"), claiming("b", 1_000, b"short"), record("c", &long), record("d", b"4")].concat();
    let mut reader = Reader::new(archive.as_slice(), 1 << 20);
    let seen: Vec<_> = std::iter::from_fn(|| reader.next_record().unwrap()).map(|entry| entry.record).collect();
    assert_eq!(seen.len(), 4, "{seen:?}");
    assert_eq!(seen[1].as_ref().unwrap_err(), &Damage::WrongLength(1_000));
    assert_eq!(seen[2].as_ref().unwrap().block, long);
    assert_eq!(seen[3].as_ref().unwrap().kind(), "d");
}

#[test]
fn garbage_after_many_line_breaks_is_reported_once() {
    for breaks in [2, 3, 20_000, 40_000] {
        let gap = [b"\r\n".repeat(breaks), vec![b'x'; 100_000], b"\r\n".to_vec()].concat();
        let archive = [record("a", b"1"), gap, record("b", b"2")].concat();
        assert_eq!(summary(&archive), [ok("a"), Err(Damage::Garbage), ok("b")], "{breaks}");
    }
}

#[test]
fn a_length_too_small_damages_one_record() {
    let archive = [record("a", b"1"), claiming("b", 4, b"much longer\r\nthan that"), record("c", b"3")].concat();
    assert_eq!(summary(&archive), [ok("a"), Err(Damage::WrongLength(4)), ok("c")]);
}

#[test]
fn an_oversized_record_is_skipped_whether_its_length_is_true_or_not() {
    let limit = MAX_BLOCK;
    let length = 4 << 30;
    let wrong = [claiming("b", length, b"short"), record("c", b"3")].concat();
    assert_eq!(summary(&wrong), [Err(Damage::TooLong { length, limit }), ok("c")]);
    let packed = [gzip(&claiming("b", length, b"short")), gzip(&record("c", b"3"))].concat();
    assert_eq!(summary(&packed), [Err(Damage::TooLong { length, limit }), ok("c")]);
    let length = 50_000;
    let correct = [record("b", &[b'x'; 50_000]), record("c", b"3")].concat();
    assert_eq!(summary(&correct), [Err(Damage::TooLong { length, limit }), ok("c")]);
}

#[test]
fn invalid_lengths_are_reported() {
    for length in ["-1", "x", "", "99999999999999999999999", "0x10"] {
        let bad = format!("WARC/1.0\r\nWARC-Type: b\r\nContent-Length: {length}\r\n\r\nblock\r\n\r\n");
        let archive = [bad.into_bytes(), record("c", b"3")].concat();
        assert_eq!(summary(&archive), [Err(Damage::NoLength), ok("c")], "`{length}`");
    }
}

#[test]
fn garbage_between_records_is_reported_once() {
    let archive =
        [b"<html>\r\nno archive\r\n".to_vec(), record("a", b"1"), b"\0\x01\xff\n\n".to_vec(), record("b", b"2")];
    assert_eq!(summary(&archive.concat()), [Err(Damage::Garbage), ok("a"), Err(Damage::Garbage), ok("b")][..]);
    assert_eq!(summary(b"no archive at all"), [Err(Damage::Garbage)]);
}

#[test]
fn an_endless_header_is_not_buffered() {
    let endless = [b"WARC/1.0\r\n".to_vec(), vec![b'x'; 1 << 20], b"\r\n".to_vec(), record("b", b"2")].concat();
    let seen = summary(&endless);
    assert!(matches!(seen[0], Err(Damage::Header(_))) && seen.last() == Some(&ok("b")), "{seen:?}");
    let next = [b"WARC/1.0\r\nWARC-Type: a\r\n".to_vec(), record("b", b"2")].concat();
    let seen = summary(&next);
    assert!(matches!(seen[0], Err(Damage::Header(_))) && seen[1] == ok("b"), "{seen:?}");
}

#[test]
fn a_damaged_member_affects_only_its_records() {
    // Poorly compressible, so that the damage hits the compressed data.
    let noise = |seed: u32| (0..3_000_u32).map(|n| (n.wrapping_mul(n ^ seed) >> 7) as u8).collect::<Vec<u8>>();
    let members: Vec<Vec<u8>> =
        ["a", "b", "c"].iter().zip(1..).map(|(kind, seed)| gzip(&record(kind, &noise(seed)))).collect();
    for at in [5, 300, members[1].len() - 6] {
        let mut archive = members.concat();
        archive[members[0].len() + at] ^= 0x55;
        let seen = summary(&archive);
        assert_eq!((&seen[0], seen.last()), (&ok("a"), Some(&ok("c"))), "damage at {at}: {seen:?}");
        assert!(seen.len() > 2 || at == 5, "the damage at {at} is not reported: {seen:?}");
    }
    let gap = [members[0].clone(), b"some bytes".to_vec(), members[2].clone()].concat();
    let seen = summary(&gap);
    assert!(seen.len() == 3 && matches!(seen[1], Err(Damage::Gzip(_))), "{seen:?}");
}

#[test]
fn nested_wrong_lengths_are_not_reread_repeatedly() {
    // Each record begins inside the previous one and claims the whole rest: rereading for each would be gigabytes.
    let nested = b"\r\n\r\nWARC/1.0\r\nContent-Length: 1900000\r\n\r\n";
    let archive: Vec<u8> = nested.iter().copied().cycle().take(2_000_000).collect();
    let mut reader = Reader::new(archive.as_slice(), 2_000_000);
    let begun = std::time::Instant::now();
    while reader.next_record().unwrap().is_some() {}
    assert!(begun.elapsed() < std::time::Duration::from_secs(20));
}

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"WARC/1.0\r\n".to_vec()),
        Just(b"Content-Length: 7\r\n".to_vec()),
        Just(b"\r\n\r\n".to_vec()),
        Just(record("a", b"1234567")),
        Just(gzip(&record("b", b"1234567"))),
        (0..9_u64).prop_map(|length| claiming("c", length, b"1234")),
        prop::collection::vec(any::<u8>(), 0..40),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_input_terminates(archive in pieces(), cut in any::<prop::sample::Index>()) {
        let cut = cut.index(archive.len() + 1);
        for archive in [&archive[..], &archive[..cut], &gzip(&archive)[..]] {
            // Each entry consumes at least a byte or ends a member.
            prop_assert!(read(archive).len() <= archive.len() + 1);
        }
    }

    #[test]
    fn blocks_round_trip(blocks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..600), 1..6)) {
        let records: Vec<Vec<u8>> = blocks.iter().map(|block| record("response", block)).collect();
        let packed: Vec<u8> = records.iter().flat_map(|record| gzip(record)).collect();
        for archive in [records.concat(), packed, gzip(&records.concat())] {
            let read: Vec<Vec<u8>> = read(&archive).into_iter().map(|entry| entry.record.unwrap().block).collect();
            prop_assert_eq!(&read, &blocks);
        }
    }
}
