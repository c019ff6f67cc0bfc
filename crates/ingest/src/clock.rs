//! Conversions between the model's times and those of the `time` crate.

use model::Timestamp;
use time::OffsetDateTime;

pub fn from_date_time(time: OffsetDateTime) -> Timestamp {
    Timestamp::from_millis(i64::try_from(time.unix_timestamp_nanos() / 1_000_000).unwrap_or(i64::MAX))
}

/// A time outside of what can be represented becomes the epoch.
pub fn to_date_time(at: Timestamp) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(at.as_millis()) * 1_000_000)
        .unwrap_or(OffsetDateTime::UNIX_EPOCH)
}
