//! RFC 3339 text of times on the wire.

use time::format_description::well_known::Rfc3339;
use time::macros::datetime;
use time::{Duration, OffsetDateTime, UtcOffset};

/// First and last time with an RFC 3339 form, in UTC.
const FIRST: OffsetDateTime = datetime!(0000-01-01 0:00 UTC);
const LAST: OffsetDateTime = datetime!(9999-12-31 23:59:59.999 UTC);

/// Formats a time in UTC with milliseconds, the precision of the store, such as `2026-01-05T10:00:00.25Z`.
///
/// Years outside 0 to 9999 have no RFC 3339 form. Times before and after become the first and the last one that has.
pub fn rfc3339(at: OffsetDateTime) -> String {
    // A time of the year 9999 with an offset may be in the year 10000 in UTC.
    let utc = at.clamp(FIRST, LAST).checked_to_offset(UtcOffset::UTC).unwrap_or(LAST);
    let truncated = utc - Duration::nanoseconds(i64::from(utc.nanosecond() % 1_000_000));
    truncated.format(&Rfc3339).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use time::{PrimitiveDateTime, UtcOffset};

    use super::*;

    #[test]
    fn times_are_utc_milliseconds() {
        assert_eq!(rfc3339(datetime!(2026-01-05 10:00:00.123_456_789 UTC)), "2026-01-05T10:00:00.123Z");
        assert_eq!(rfc3339(datetime!(2026-01-05 10:00 +2)), "2026-01-05T08:00:00Z");
    }

    #[test]
    fn times_without_a_form_become_the_nearest_with_one() {
        assert_eq!(rfc3339(datetime!(9999-12-31 23:59:59 -5)), "9999-12-31T23:59:59.999Z");
        assert_eq!(rfc3339(datetime!(9999-12-31 23:59:59.999_999 UTC)), "9999-12-31T23:59:59.999Z");
        assert_eq!(rfc3339(datetime!(0000-01-01 0:00 +5)), "0000-01-01T00:00:00Z");
        for hours in [-25, 0, 25] {
            let offset = UtcOffset::from_hms(hours, 0, 0).expect("an offset");
            let last = if hours > 0 { "9999-12-30T22:59:59.999Z" } else { "9999-12-31T23:59:59.999Z" };
            assert_eq!(rfc3339(PrimitiveDateTime::MAX.assume_offset(offset)), last, "{offset}");
            assert_eq!(rfc3339(PrimitiveDateTime::MIN.assume_offset(offset)), "0000-01-01T00:00:00Z", "{offset}");
        }
    }
}
