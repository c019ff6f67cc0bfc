//! Parsers for the date formats of documents. Results are milliseconds since 1970-01-01 UTC.

use time::format_description::well_known::{Iso8601, Rfc2822, Rfc3339};
use time::{Date, Month, OffsetDateTime, PrimitiveDateTime, Time, UtcOffset};

/// Maximum length of an abbreviated zone, such as `CEST`.
const MAX_ZONE_NAME: usize = 5;

/// Parses RFC 3339, ISO 8601, RFC 2822, `2024-03-01`, `2024/03/01`, `20240301` and `2024-03-01 10:00:00`. The time may end
/// with `AM` or `PM` and with an offset (`-0500`, `+01:00`, `Z`, `UTC+2`); without one it is UTC. Returns `None` for other
/// formats and for years outside 1900 to 2200.
pub(crate) fn parse(value: &str) -> Option<i64> {
    let value = value.trim();
    let moment = OffsetDateTime::parse(value, &Rfc3339)
        .or_else(|_| OffsetDateTime::parse(value, &Iso8601::DEFAULT))
        .or_else(|_| OffsetDateTime::parse(value, &Rfc2822))
        .ok()
        .or_else(|| spaced(value))?;
    milliseconds(moment)
}

/// Parses PDF dates (ISO 32000-1, 7.9.4): `D:YYYYMMDDHHmmSSOHH'mm'`, where every part after the year is optional.
pub(crate) fn parse_pdf(value: &str) -> Option<i64> {
    let value = value.trim();
    let value = value.strip_prefix("D:").unwrap_or(value);
    let digits = value.len() - value.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits < 4 {
        return None;
    }
    let (stamp, zone) = value.split_at(digits);
    let part = |from: usize, to: usize, missing: u8| match stamp.get(from..to) {
        Some(part) => part.parse().ok(),
        None => Some(missing),
    };
    let year: i32 = stamp.get(..4)?.parse().ok()?;
    let date = Date::from_calendar_date(year, Month::try_from(part(4, 6, 1)?).ok()?, part(6, 8, 1)?).ok()?;
    let time = Time::from_hms(part(8, 10, 0)?, part(10, 12, 0)?, part(12, 14, 0)?.min(59)).ok()?;
    milliseconds(PrimitiveDateTime::new(date, time).assume_offset(pdf_zone(zone)))
}

fn pdf_zone(zone: &str) -> UtcOffset {
    // Some programs write the separator of ISO 8601, or none. A damaged offset does not make the day unknown.
    offset(zone).map_or(UtcOffset::UTC, |(offset, _)| offset)
}

/// Parses a calendar date, and a time behind a space or a `T`.
fn spaced(value: &str) -> Option<OffsetDateTime> {
    let (date, time) = value.split_once(['T', ' ']).unwrap_or((value, ""));
    let parts: Vec<&str> = if date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) {
        vec![&date[..4], &date[4..6], &date[6..]]
    } else {
        date.split(['-', '/', '.']).collect()
    };
    let [year, month, day] = parts[..] else { return None };
    if year.len() != 4 {
        return None;
    }
    let month = Month::try_from(month.parse::<u8>().ok()?).ok()?;
    let date = Date::from_calendar_date(year.parse().ok()?, month, day.parse().ok()?).ok()?;
    let (time, rest) = clock(time.trim_start())?;
    Some(PrimitiveDateTime::new(date, time).assume_offset(zone(rest)?))
}

/// Parses `10`, `10:30`, `10:30:00.5` or `103000`, with `AM` or `PM` if any, and returns the rest. No time is midnight.
fn clock(value: &str) -> Option<(Time, &str)> {
    let Some((hour, rest)) = number(value) else { return Some((Time::MIDNIGHT, value)) };
    let (minute, rest) = clock_part(rest)?;
    let (second, rest) = clock_part(rest)?;
    let rest = match rest.strip_prefix(['.', ',']) {
        Some(fraction) => fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => rest,
    };
    let (hour, rest) = match rest.trim_start().split_at_checked(2) {
        Some((half, rest)) if half.eq_ignore_ascii_case("am") => (half_day(hour)?, rest),
        Some((half, rest)) if half.eq_ignore_ascii_case("pm") => (half_day(hour)? + 12, rest),
        _ => (hour, rest),
    };
    // A leap second counts as the second before.
    Some((Time::from_hms(hour, minute, second.min(59)).ok()?, rest))
}

/// Parses the minutes or seconds of a time: `:30` or `30`. No such part is 0.
fn clock_part(value: &str) -> Option<(u8, &str)> {
    match value.strip_prefix(':') {
        Some(digits) => number(digits),
        None => Some(number(value).unwrap_or((0, value))),
    }
}

/// Returns the hours since midnight or noon on a clock of twelve hours.
fn half_day(hour: u8) -> Option<u8> {
    (1..=12).contains(&hour).then_some(hour % 12)
}

/// Parses the zone behind a time: `Z`, `UTC`, `GMT`, an offset, or both. No zone is UTC.
fn zone(value: &str) -> Option<UtcOffset> {
    let value = value.trim_start();
    let named = ["UTC", "GMT", "Z", "z"].iter().find_map(|name| value.strip_prefix(name));
    let rest = named.unwrap_or(value);
    if rest.is_empty() {
        return Some(UtcOffset::UTC);
    }
    let (offset, rest) = offset(rest)?;
    // Programs repeat the offset by its name: `+0100 CET`, `+01:00[Europe/Berlin]`.
    let name = rest.trim_start();
    let abbreviated = name.len() <= MAX_ZONE_NAME && name.bytes().all(|byte| byte.is_ascii_uppercase());
    (abbreviated || name.starts_with(['[', '('])).then_some(offset)
}

/// Parses `+01:00`, `+01'00'`, `+0100`, `+01` or `+1`, and returns the rest.
fn offset(value: &str) -> Option<(UtcOffset, &str)> {
    let (digits, sign) = match value.strip_prefix('+') {
        Some(digits) => (digits, 1),
        None => (value.strip_prefix(['-', '−'])?, -1),
    };
    let (hours, rest) = number(digits)?;
    let (minutes, rest) = number(rest.strip_prefix([':', '\'']).unwrap_or(rest)).unwrap_or((0, rest));
    let part = |number: u8| i8::try_from(number).ok().map(|number| sign * number);
    Some((UtcOffset::from_hms(part(hours)?, part(minutes)?, 0).ok()?, rest))
}

/// Parses a number of one or two digits, and returns the rest.
fn number(value: &str) -> Option<(u8, &str)> {
    let digits = value.bytes().take(2).take_while(u8::is_ascii_digit).count();
    let (number, rest) = value.split_at(digits);
    Some((number.parse().ok()?, rest))
}

fn milliseconds(moment: OffsetDateTime) -> Option<i64> {
    let plausible = (1900..=2200).contains(&moment.year());
    plausible.then(|| i64::try_from(moment.unix_timestamp_nanos() / 1_000_000).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_date_formats_are_parsed() {
        for (text, expected) in [
            ("2024-03-01", Some(1_709_251_200_000)),
            ("2024/03/01", Some(1_709_251_200_000)),
            ("20240301", Some(1_709_251_200_000)),
            ("2024-03-01T01:00:00+01:00", Some(1_709_251_200_000)),
            ("2024-03-01T00:00:00Z", Some(1_709_251_200_000)),
            ("2024-03-01 00:00:30", Some(1_709_251_230_000)),
            ("2009-10-28T11:15:00", Some(1_256_728_500_000)),
            ("2009-10-28T11:15:00.500000000", Some(1_256_728_500_000)),
            ("Fri, 01 Mar 2024 00:00:00 GMT", Some(1_709_251_200_000)),
            ("2024-03-01 22:30:00 -0500", Some(1_709_350_200_000)),
            ("2024-03-01 22:30:00-05:00", Some(1_709_350_200_000)),
            ("2024-03-01T22:30:00.25-0500", Some(1_709_350_200_000)),
            ("2024/03/01 02:00 +0200", Some(1_709_251_200_000)),
            ("2024-03-01 02:00:00 UTC+2", Some(1_709_251_200_000)),
            ("2024-03-01 01:00:00 +0100 CET", Some(1_709_251_200_000)),
            ("2024-03-01T01:00:00+01:00[Europe/Berlin]", Some(1_709_251_200_000)),
            ("2024-03-01 00:00:00 +0000 UTC", Some(1_709_251_200_000)),
            ("2024-03-01 00:00 GMT", Some(1_709_251_200_000)),
            ("2024-03-01 00:00:00Z", Some(1_709_251_200_000)),
            ("2024-03-01 10:30 PM", Some(1_709_332_200_000)),
            ("2024-03-01 10:30:00pm -0500", Some(1_709_350_200_000)),
            ("2024-03-01 12:00 AM", Some(1_709_251_200_000)),
            ("2024-03-01 000030", Some(1_709_251_230_000)),
            ("2024-03-01T", Some(1_709_251_200_000)),
            ("2024-03-01 10:30 Uhr", None),
            ("2024-03-01 13:30 PM", None),
            ("2024-03-01 10:", None),
            ("2024-03-01 10:30 +", None),
            ("2024-03-01 10:30 +9900", None),
            ("2024-03-01 soon", None),
            ("2024-03-01 10é", None),
            ("yesterday", None),
            ("0000-00-00", None),
            ("2024-13-01", None),
            ("", None),
        ] {
            assert_eq!(parse(text).map(|ms| ms / 1000), expected.map(|ms: i64| ms / 1000), "{text}");
        }
    }

    #[test]
    fn pdf_dates_are_parsed_full_and_truncated() {
        assert_eq!(parse_pdf("D:20240301010000+01'00'"), Some(1_709_251_200_000));
        for zone in ["Z", "Z00'00'", "+00'00'", "", "?"] {
            assert_eq!(parse_pdf(&format!("D:20240301000000{zone}")), Some(1_709_251_200_000), "{zone}");
        }
        for zone in ["+01'00'", "+01'00", "+0100", "+01:00", "+01"] {
            assert_eq!(parse_pdf(&format!("D:20240301010000{zone}")), Some(1_709_251_200_000), "{zone}");
        }
        assert_eq!(parse_pdf("D:20240229183000-0530"), Some(1_709_251_200_000));
        assert_eq!(parse_pdf("202403"), Some(1_709_251_200_000));
        assert_eq!(parse_pdf("D:"), None);
        assert_eq!(parse_pdf("D:2024é"), Some(1_704_067_200_000));
    }
}
