//! Journal records.

use super::{Entry, ObjectId};

/// Change of the store. Replaying all records in order restores its state.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Record {
    /// Stores `entry` at `key`. The same line marks the presigned URL as used, so that a crash cannot separate the two.
    Put {
        key: String,
        entry: Entry,
        used: Option<UsedSignature>,
    },
    Delete {
        key: String,
    },
    /// Written only by compaction, because a used signature outlives the record of its put.
    Used(UsedSignature),
    /// Written only by compaction: ids are never reused, even if the object with the highest id was deleted.
    NextId(ObjectId),
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct UsedSignature {
    /// Percent-decoded signature of the URL: 64 hexadecimal digits.
    pub signature: String,
    /// Unix seconds. The signature expires then and need not be remembered longer.
    pub expires_at: i64,
}

impl Record {
    /// Appends the record as a line: a checksum, then fields separated by tabs, the key last. No field contains a tab
    /// or line feed (the operations reject such keys).
    pub fn write(&self, out: &mut String) {
        use std::fmt::Write as _;
        let start = out.len();
        // Writing to a string cannot fail.
        let _ = match self {
            Self::Put { key, entry, used } => {
                let (signature, expires_at) = used.as_ref().map_or(("-", 0), |u| (u.signature.as_str(), u.expires_at));
                write!(
                    out,
                    "put\t{:x}\t{}\t{}\t{}\t{signature}\t{expires_at}\t{key}",
                    entry.id,
                    entry.size,
                    hex::encode(entry.md5),
                    entry.modified_ms
                )
            }
            Self::Delete { key } => write!(out, "delete\t{key}"),
            Self::Used(used) => write!(out, "used\t{}\t{}", used.signature, used.expires_at),
            Self::NextId(id) => write!(out, "next\t{id:x}"),
        };
        let checksum = fnv1a(&out.as_bytes()[start..]);
        out.insert_str(start, &format!("{checksum:08x}\t"));
        out.push('\n');
    }

    /// Parses a line without its line feed. Returns `None` if it is torn or damaged.
    pub fn parse(line: &str) -> Option<Self> {
        let (checksum, rest) = line.split_once('\t')?;
        if u32::from_str_radix(checksum, 16).ok()? != fnv1a(rest.as_bytes()) {
            return None;
        }
        let (kind, rest) = rest.split_once('\t')?;
        match kind {
            "put" => {
                let mut fields = rest.splitn(7, '\t');
                let id = ObjectId::from_str_radix(fields.next()?, 16).ok()?;
                let size = fields.next()?.parse().ok()?;
                let mut md5 = [0; 16];
                hex::decode_to_slice(fields.next()?, &mut md5).ok()?;
                let modified_ms = fields.next()?.parse().ok()?;
                let signature = fields.next()?;
                let expires_at = fields.next()?.parse().ok()?;
                let used = (signature != "-").then(|| UsedSignature { signature: signature.to_owned(), expires_at });
                let key = fields.next()?.to_owned();
                Some(Self::Put { key, entry: Entry { id, size, md5, modified_ms }, used })
            }
            "delete" => Some(Self::Delete { key: rest.to_owned() }),
            "used" => {
                let (signature, expires_at) = rest.split_once('\t')?;
                Some(Self::Used(UsedSignature {
                    signature: signature.to_owned(),
                    expires_at: expires_at.parse().ok()?,
                }))
            }
            "next" => Some(Self::NextId(ObjectId::from_str_radix(rest, 16).ok()?)),
            _ => None,
        }
    }
}

/// FNV-1a, 32 bits. Detects torn or damaged lines, not forged ones.
fn fnv1a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use super::*;

    fn records() -> Vec<Record> {
        let entry = Entry { id: 0x1f, size: 12, md5: [0xab; 16], modified_ms: 1_700_000_000_123 };
        let used = UsedSignature { signature: "5e".repeat(32), expires_at: 1_700_000_900 };
        vec![
            Record::Put { key: "a/b é".to_owned(), entry, used: None },
            Record::Put { key: "k".to_owned(), entry, used: Some(used.clone()) },
            Record::Delete { key: "a/b".to_owned() },
            Record::Used(used),
            Record::NextId(0x20),
        ]
    }

    #[test]
    fn records_round_trip() {
        for record in records() {
            let mut line = String::new();
            record.write(&mut line);
            assert_eq!(Record::parse(line.strip_suffix('\n').unwrap()), Some(record));
        }
    }

    #[test]
    fn torn_and_damaged_lines_are_rejected() {
        for record in records() {
            let mut line = String::new();
            record.write(&mut line);
            let line = line.trim_end_matches('\n');
            for end in 0..line.len() {
                if let Some(torn) = line.get(..end) {
                    assert_eq!(Record::parse(torn), None, "{torn:?}");
                }
            }
            let mut damaged = line.to_owned();
            damaged.pop();
            damaged.push('~');
            assert_eq!(Record::parse(&damaged), None, "{damaged:?}");
        }
        assert_eq!(Record::parse("811c9dc5\t"), None);
        assert_eq!(Record::parse(&"\0".repeat(64)), None);
    }
}
