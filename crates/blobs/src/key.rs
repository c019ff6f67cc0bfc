use crate::{BlobError, BlobErrorKind};

/// Maximum length of a key in bytes, as in S3.
pub const MAX_KEY_BYTES: usize = 1024;

/// Checks that every store supports the key: 1 to 1,024 bytes of printable ASCII without a segment `.` or `..` between
/// slashes.
///
/// ASCII avoids differences between stores in normalization and XML listings. URL parsers resolve dot segments, also
/// percent-encoded ones, so `a/../b` would silently name the object `b`.
///
/// # Errors
/// `Failed`, with the key in the message.
pub fn check_key(key: &str) -> Result<(), BlobError> {
    let is_valid = (1..=MAX_KEY_BYTES).contains(&key.len())
        && key.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && key.split('/').all(|segment| segment != "." && segment != "..");
    if is_valid {
        Ok(())
    } else {
        let shown: String = key.chars().take(100).flat_map(char::escape_default).collect();
        Err(BlobError::new(BlobErrorKind::Failed, format!("invalid object key `{shown}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_supported_by_every_store_are_valid() {
        for valid in ["a", "a/b", "a//b", "/a", "a/", "a b+c%2F&<>\"'~", "..a/b..", "...", &"k".repeat(1024)] {
            assert!(check_key(valid).is_ok(), "{valid}");
        }
        for invalid in ["", ".", "..", "a/../b", "a/.", "../../evil", "a\0b", "a\nb", "é", "\u{7f}", &"k".repeat(1025)]
        {
            assert!(check_key(invalid).is_err(), "{invalid:?}");
        }
    }
}
