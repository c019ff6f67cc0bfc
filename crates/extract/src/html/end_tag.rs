//! Search for the end tag of an element that holds text, without a tree.

/// Returns the distance to the byte after the name of the element's end tag.
pub(super) fn find(bytes: &[u8], name: &[u8]) -> usize {
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(2).position(|window| window == b"</") {
        at += found + 2;
        if bytes[at..].get(..name.len()).is_some_and(|tag| tag.eq_ignore_ascii_case(name)) {
            return at + name.len();
        }
    }
    bytes.len()
}
