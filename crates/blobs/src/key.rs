use crate::{BlobError, BlobErrorKind};

/// Bytes that S3 allows in a key.
pub const MAX_KEY_BYTES: usize = 1024;

/// Whether every store can hold an object under this key: 1 to 1,024 bytes of printable ASCII, and no segment `.` or
/// `..` between slashes.
///
/// The ASCII rule keeps keys out of the differences between stores in normalization and in XML listings. The rule on
/// segments is there because URL parsers resolve them (also when percent-encoded), so that `a/../b` would silently
/// name the object `b`.
///
/// # Errors
/// `Failed`, naming the key.
pub fn check_key(key: &str) -> Result<(), BlobError> {
    let legal = (1..=MAX_KEY_BYTES).contains(&key.len())
        && key.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && key.split('/').all(|segment| segment != "." && segment != "..");
    if legal {
        Ok(())
    } else {
        let shown: String = key.chars().take(100).flat_map(char::escape_default).collect();
        Err(BlobError::new(BlobErrorKind::Failed, format!("`{shown}` is not a legal object key")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_every_store_can_hold() {
        for legal in ["a", "a/b", "a//b", "/a", "a/", "a b+c%2F&<>\"'~", "..a/b..", "...", &"k".repeat(1024)] {
            assert!(check_key(legal).is_ok(), "{legal}");
        }
        for illegal in ["", ".", "..", "a/../b", "a/.", "../../evil", "a\0b", "a\nb", "é", "\u{7f}", &"k".repeat(1025)]
        {
            assert!(check_key(illegal).is_err(), "{illegal:?}");
        }
    }
}
