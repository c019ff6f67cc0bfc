//! Dates of sitemaps and feeds.

use ingest::clock::from_date_time;
use model::Timestamp;
use time::format_description::well_known::{Rfc2822, Rfc3339};
use time::macros::format_description;
use time::{Date, OffsetDateTime, PrimitiveDateTime};

/// Parses a date of W3C (`2024-03-01`, `2024-03-01T10:00+01:00`) or of RFC 2822.
pub(super) fn parse(text: &str) -> Option<Timestamp> {
    const LONGEST: usize = 64;
    let text = text.trim();
    if text.len() > LONGEST {
        return None;
    }
    let minutes =
        format_description!("[year]-[month]-[day]T[hour]:[minute][offset_hour sign:mandatory]:[offset_minute]");
    let local = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]");
    let date = || {
        let day = text.get(..10).filter(|_| text.len() == 10)?;
        Some(Date::parse(day, format_description!("[year]-[month]-[day]")).ok()?.midnight().assume_utc())
    };
    OffsetDateTime::parse(text, &Rfc3339)
        .or_else(|_| OffsetDateTime::parse(text, &Rfc2822))
        .or_else(|_| OffsetDateTime::parse(text, &minutes))
        .or_else(|_| PrimitiveDateTime::parse(text, &local).map(PrimitiveDateTime::assume_utc))
        .ok()
        .or_else(date)
        .map(from_date_time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_spellings_are_parsed() {
        let noon = Some(Timestamp::from_millis(1_709_294_400_000));
        for text in [
            "2024-03-01T12:00:00Z",
            "2024-03-01T13:00:00.000+01:00",
            "2024-03-01T13:00+01:00",
            "2024-03-01T12:00:00",
            "Fri, 01 Mar 2024 12:00:00 GMT",
            " Fri, 1 Mar 2024 12:00:00 +0000 ",
        ] {
            assert_eq!(parse(text), noon, "{text}");
        }
        assert_eq!(parse("2024-03-01"), Some(Timestamp::from_millis(1_709_251_200_000)));
        for text in ["", "yesterday", "2024", "2024-13-01"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
