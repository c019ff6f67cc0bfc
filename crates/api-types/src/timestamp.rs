//! RFC 3339 text of times on the wire.

use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime, UtcOffset};

/// Formats a time in UTC with milliseconds, the precision of the store, such as `2026-01-05T10:00:00.25Z`.
///
/// Years outside 0 to 9999 have no RFC 3339 form and become the Unix epoch. No caller can produce them.
pub fn rfc3339(at: OffsetDateTime) -> String {
    let utc = at.to_offset(UtcOffset::UTC);
    let truncated = utc - Duration::nanoseconds(i64::from(utc.nanosecond() % 1_000_000));
    truncated.format(&Rfc3339).unwrap_or_else(|_| "1970-01-01T00:00:00Z".to_owned())
}

#[cfg(test)]
mod tests {
    use super::rfc3339;
    use time::macros::datetime;

    #[test]
    fn times_are_utc_milliseconds() {
        assert_eq!(rfc3339(datetime!(2026-01-05 10:00:00.123_456_789 UTC)), "2026-01-05T10:00:00.123Z");
        assert_eq!(rfc3339(datetime!(2026-01-05 10:00 +2)), "2026-01-05T08:00:00Z");
    }
}
