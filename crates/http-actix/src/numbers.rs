/// Counts are `int64` on the wire.
pub(crate) fn wire_int(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
