//! Publication times.

use api_types::{ResultMetadata, SearchResult, timestamp};
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, Duration, OffsetDateTime, PrimitiveDateTime};

use crate::Refusal;

/// A time in a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Instant {
    pub at: OffsetDateTime,
    /// The text had a date without a time of day.
    pub is_day: bool,
}

impl Instant {
    /// Returns the end of the day if the text was a date, else the time itself.
    pub fn end(self) -> OffsetDateTime {
        if self.is_day { self.at.saturating_add(Duration::DAY) } else { self.at }
    }

    /// Returns the exclusive lower bound: a date includes its day.
    pub fn after(self) -> OffsetDateTime {
        if self.is_day { before_day(self.at) } else { self.at }
    }

    /// Returns the text of `published_after`.
    pub fn start(self) -> String {
        timestamp::rfc3339(self.after())
    }
}

/// Returns the last millisecond before a day that begins at `midnight`: lower bounds are exclusive, and a page that
/// states its day only is stored as of midnight.
pub(crate) fn before_day(midnight: OffsetDateTime) -> OffsetDateTime {
    midnight.saturating_sub(Duration::MILLISECOND)
}

/// Parses a date, or a time with or without an offset; without one it is UTC.
pub(crate) fn parse(field: &str, text: &str) -> Result<Instant, Refusal> {
    let text = text.trim();
    let day = Date::parse(text, format_description!("[year]-[month]-[day]")).ok();
    if let Some(day) = day {
        return Ok(Instant { at: day.midnight().assume_utc(), is_day: true });
    }
    let local = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second][optional [.[subsecond]]]");
    let at = OffsetDateTime::parse(text, &Rfc3339)
        .ok()
        .or_else(|| PrimitiveDateTime::parse(text, &local).ok().map(PrimitiveDateTime::assume_utc));
    match at {
        Some(at) => Ok(Instant { at, is_day: false }),
        None => Err(Refusal::new(field, format!("{field} must be a date such as `2026-01-05` or an ISO 8601 time"))),
    }
}

/// Returns the publication time of a hit.
pub(crate) fn published(hit: &SearchResult) -> Option<&str> {
    hit.metadata.as_ref().and_then(|ResultMetadata { published_at, .. }| published_at.as_deref())
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn dates_and_times_are_read() {
        for (text, at, is_day) in [
            ("2026-01-05", datetime!(2026-01-05 0:00 UTC), true),
            ("2026-01-05T10:00:00.000Z", datetime!(2026-01-05 10:00 UTC), false),
            ("2026-01-05T10:00:00+02:00", datetime!(2026-01-05 08:00 UTC), false),
            ("2026-01-05T10:00:00", datetime!(2026-01-05 10:00 UTC), false),
            ("2026-01-05T10:00:00.25", datetime!(2026-01-05 10:00:00.25 UTC), false),
        ] {
            assert_eq!(parse("f", text), Ok(Instant { at, is_day }), "{text}");
        }
        for bad in ["", "yesterday", "2026-13-01", "2026-1-5", "1767607200", "2026-01-05T25:00:00Z"] {
            assert!(parse("end_date", bad).is_err_and(|refusal| refusal.message.starts_with("end_date must")), "{bad}");
        }
    }

    #[test]
    fn a_day_is_within_its_bounds() {
        let day = parse("f", "2026-01-05");
        assert_eq!(day.clone().map(Instant::start).as_deref(), Ok("2026-01-04T23:59:59.999Z"));
        assert_eq!(day.map(Instant::end), Ok(datetime!(2026-01-06 0:00 UTC)));
        let time = parse("f", "2026-01-05T00:00:00Z").map(Instant::start);
        assert_eq!(time.as_deref(), Ok("2026-01-05T00:00:00Z"), "a time is what it says");
    }
}
