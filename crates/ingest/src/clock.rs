//! Conversions between [`Timestamp`] and the `time` crate.

use model::Timestamp;
use time::{OffsetDateTime, PrimitiveDateTime};

/// Converts to milliseconds, rounding towards zero.
pub fn from_date_time(time: OffsetDateTime) -> Timestamp {
    Timestamp::from_millis(i64::try_from(time.unix_timestamp_nanos() / 1_000_000).unwrap_or(i64::MAX))
}

/// Converts from milliseconds. A time out of range becomes the first or the last time of `time`, at the ends of the years -9999 and 9999.
pub fn to_date_time(at: Timestamp) -> OffsetDateTime {
    let nearest = if at < Timestamp::UNIX_EPOCH { PrimitiveDateTime::MIN } else { PrimitiveDateTime::MAX };
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(at.as_millis()) * 1_000_000)
        .unwrap_or_else(|_| nearest.assume_utc())
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn times_are_converted_both_ways() {
        for at in
            [datetime!(2026-01-05 10:00:00.25 UTC), datetime!(1969-12-31 23:00 UTC), datetime!(9999-12-31 23:59 UTC)]
        {
            assert_eq!(to_date_time(from_date_time(at)), at);
        }
    }

    #[test]
    fn times_out_of_range_become_the_nearest() {
        let past_the_last = from_date_time(datetime!(9999-12-31 23:59:59 -5));
        assert_eq!(to_date_time(past_the_last), PrimitiveDateTime::MAX.assume_utc());
        assert_eq!(to_date_time(Timestamp::MAX), PrimitiveDateTime::MAX.assume_utc());
        assert_eq!(to_date_time(Timestamp::MIN), PrimitiveDateTime::MIN.assume_utc());
    }
}
