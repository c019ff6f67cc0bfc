//! Conversions between [`Timestamp`] and the `time` crate.

use model::Timestamp;
use time::OffsetDateTime;

/// Converts to milliseconds, rounding towards zero.
pub fn from_date_time(time: OffsetDateTime) -> Timestamp {
    Timestamp::from_millis(i64::try_from(time.unix_timestamp_nanos() / 1_000_000).unwrap_or(i64::MAX))
}

/// Converts from milliseconds. A time out of range becomes the Unix epoch.
pub fn to_date_time(at: Timestamp) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(at.as_millis()) * 1_000_000)
        .unwrap_or(OffsetDateTime::UNIX_EPOCH)
}
