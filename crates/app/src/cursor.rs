//! Cursors of paged lists: the name or id after which the next page begins. A place rather than a number, so that entries that are
//! added or deleted meanwhile neither shift nor repeat others.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::Error;
use crate::error::Result;

/// Maximum length of a name in bytes.
const MAX_NAME_BYTES: usize = 4 * 512;
const CHECKSUM_BYTES: usize = 4;

/// A paged list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum List {
    Files,
    Outcomes,
    WebPages,
}

impl List {
    fn tag(self) -> u8 {
        match self {
            List::Files => b'f',
            List::Outcomes => b'o',
            List::WebPages => b'w',
        }
    }
}

/// Returns the cursor of the page after the name.
pub fn encode(list: List, name: &str) -> String {
    let mut bytes = vec![list.tag()];
    bytes.extend(name.as_bytes());
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Returns the name in a cursor of this list.
///
/// # Errors
/// `Invalid` for anything that [`encode`] did not return.
pub fn decode(list: List, cursor: &str) -> Result<String> {
    parse(list, cursor).ok_or_else(|| {
        Error::invalid("cursor", "cursor must be the `next_cursor` of an earlier page of this list, unchanged")
    })
}

fn parse(list: List, cursor: &str) -> Option<String> {
    if cursor.len() > 2 * MAX_NAME_BYTES {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
    let (content, checksum) = bytes.split_at_checked(bytes.len().checked_sub(CHECKSUM_BYTES)?)?;
    let (tag, name) = content.split_first()?;
    let is_ours = checksum == crc32fast::hash(content).to_le_bytes() && *tag == list.tag();
    let name = String::from_utf8(name.to_vec()).ok().filter(|_| is_ours)?;
    // No name in a database has one, and PostgreSQL refuses to compare with it.
    (!name.contains('\0')).then_some(name)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn cursors_round_trip() {
        for name in ["", "a.txt", "日本 ?&=.md", &"😀".repeat(512)] {
            assert_eq!(decode(List::Files, &encode(List::Files, name)).unwrap(), name);
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let cursor = encode(List::Files, "report.pdf");
        let texts = ["", "x", "report.pdf", "é", &cursor[1..], &format!("{cursor}A"), &"A".repeat(100_000)];
        for text in texts {
            assert!(
                matches!(decode(List::Files, text), Err(Error::Invalid { field, .. }) if field == "cursor"),
                "{text}"
            );
        }
        assert!(decode(List::Outcomes, &cursor).is_err(), "of another list");
        for list in [List::Files, List::Outcomes, List::WebPages] {
            assert!(decode(list, &encode(list, "a\0")).is_err(), "{list:?}: no name has this character");
        }
    }
}
