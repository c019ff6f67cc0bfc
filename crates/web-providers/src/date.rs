//! Dates of results, in the forms that providers use.

use model::Timestamp;
use time::format_description::well_known::{Iso8601, Rfc2822, Rfc3339};
use time::macros::format_description;
use time::{Date, OffsetDateTime, PrimitiveDateTime};

/// Longest text that is a date.
const MAX_LENGTH: usize = 64;

/// Parses a date: RFC 3339, RFC 2822, ISO 8601 with or without time and offset (UTC without), or seconds or milliseconds since
/// 1970. Eight digits that form a date are one.
pub fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_LENGTH {
        return None;
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        match text.len() {
            // A year is no date.
            4 => return None,
            8 => {
                if let Ok(date) = Date::parse(text, format_description!("[year][month][day]")) {
                    return Some(from_time(date.midnight().assume_utc()));
                }
            }
            _ => {}
        }
    }
    if let Ok(number) = text.parse::<i64>() {
        return from_number(number);
    }
    let date =
        || Date::parse(text, format_description!("[year]-[month]-[day]")).map(|date| date.midnight().assume_utc());
    let spaced = format_description!("[year]-[month]-[day] [hour]:[minute]:[second]");
    OffsetDateTime::parse(text, &Rfc3339)
        .or_else(|_| OffsetDateTime::parse(text, &Iso8601::PARSING))
        .or_else(|_| PrimitiveDateTime::parse(text, &Iso8601::PARSING).map(PrimitiveDateTime::assume_utc))
        .or_else(|_| PrimitiveDateTime::parse(text, spaced).map(PrimitiveDateTime::assume_utc))
        .or_else(|_| OffsetDateTime::parse(text, &Rfc2822))
        .or_else(|_| date())
        .ok()
        .map(from_time)
}

/// Returns the time of a number of seconds, or of milliseconds from 1e11 on.
fn from_number(number: i64) -> Option<Timestamp> {
    let millis = if number.abs() < 100_000_000_000 { number.checked_mul(1_000)? } else { number };
    let nanos = i128::from(millis) * 1_000_000;
    OffsetDateTime::from_unix_timestamp_nanos(nanos).ok().map(from_time)
}

fn from_time(time: OffsetDateTime) -> Timestamp {
    Timestamp::from_millis(i64::try_from(time.unix_timestamp_nanos() / 1_000_000).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_all_forms_are_parsed() {
        let noon = Some(Timestamp::from_millis(1_767_268_800_000));
        for text in [
            "2026-01-01T12:00:00Z",
            "2026-01-01T14:00:00+02:00",
            "2026-01-01T12:00:00",
            "2026-01-01T12:00:00.000000",
            "2026-01-01 12:00:00",
            " 1767268800 ",
            "1767268800000",
            "Thu, 01 Jan 2026 12:00:00 GMT",
        ] {
            assert_eq!(parse(text), noon, "{text}");
        }
        assert_eq!(parse("2026-01-01"), Some(Timestamp::from_millis(1_767_225_600_000)));
        assert_eq!(parse("20240301"), Some(Timestamp::from_millis(1_709_251_200_000)));
        assert_eq!(parse("20241301"), Some(Timestamp::from_millis(20_241_301_000)), "seconds");
        let long = "1".repeat(1_000);
        for text in ["", "2024", "yesterday", "2026-13-01", "9223372036854775807", long.as_str(), "null"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
