/// Removes NUL, which PostgreSQL text cannot hold.
///
/// For untrusted text, so that one NUL does not fail a whole batch of rows. Call it before computing digests or offsets.
pub fn strip_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "") } else { text }
}
