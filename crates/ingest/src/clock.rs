//! Times as the docstore keeps them.

use time::OffsetDateTime;

/// Milliseconds since the Unix epoch.
pub fn now_ms() -> i64 {
    to_ms(OffsetDateTime::now_utc())
}

pub fn to_ms(time: OffsetDateTime) -> i64 {
    i64::try_from(time.unix_timestamp_nanos() / 1_000_000).unwrap_or(i64::MAX)
}

/// A time outside of what can be represented becomes the epoch.
pub fn from_ms(milliseconds: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(milliseconds) * 1_000_000)
        .unwrap_or(OffsetDateTime::UNIX_EPOCH)
}
