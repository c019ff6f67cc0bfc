/// Removes NUL, the one character that PostgreSQL's text cannot hold.
///
/// For text from outside, where one odd character must not fail the rows written with it. Callers that compute digests or
/// offsets of a text apply it first.
pub fn strip_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "") } else { text }
}
