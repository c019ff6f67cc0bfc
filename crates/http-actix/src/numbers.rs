/// Converts a count to the wire type `int64`; saturates.
pub(crate) fn wire_int(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
