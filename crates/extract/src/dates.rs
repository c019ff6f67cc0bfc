//! Parsers for the date formats of documents. Results are milliseconds since 1970-01-01 UTC.

use time::format_description::well_known::{Iso8601, Rfc2822, Rfc3339};
use time::{Date, Month, OffsetDateTime, PrimitiveDateTime, Time, UtcOffset};

/// Parses RFC 3339, ISO 8601 (UTC without a zone), RFC 2822, `2024-03-01`, `2024/03/01`, `20240301` and `2024-03-01
/// 10:00:00`. Returns `None` for other formats and for years outside 1900 to 2200.
pub(crate) fn parse(value: &str) -> Option<i64> {
    let value = value.trim();
    let moment = OffsetDateTime::parse(value, &Rfc3339)
        .or_else(|_| OffsetDateTime::parse(value, &Iso8601::DEFAULT))
        .or_else(|_| OffsetDateTime::parse(value, &Rfc2822))
        .ok()
        .or_else(|| local(value))?;
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
    let sign = match zone.as_bytes().first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return UtcOffset::UTC,
    };
    let numbers: Vec<i8> = zone[1..].split('\'').filter_map(|part| part.parse().ok()).collect();
    let (hours, minutes) = (numbers.first().copied().unwrap_or(0), numbers.get(1).copied().unwrap_or(0));
    UtcOffset::from_hms(sign * hours.clamp(0, 23), sign * minutes.clamp(0, 59), 0).unwrap_or(UtcOffset::UTC)
}

/// Parses calendar dates and times without a zone as UTC.
fn local(value: &str) -> Option<OffsetDateTime> {
    let (date, time) = value.split_once(['T', ' ']).map_or((value, None), |(date, time)| (date, Some(time)));
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
    let mut clock = time.unwrap_or_default().trim_end_matches('Z').split([':', '.', ',', '+', ' ']);
    let mut next = || clock.next().and_then(|part| part.parse::<u8>().ok()).unwrap_or(0);
    let time = Time::from_hms(next(), next(), next().min(59)).ok()?;
    Some(PrimitiveDateTime::new(date, time).assume_utc())
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
        assert_eq!(parse_pdf("D:20240301000000Z"), Some(1_709_251_200_000));
        assert_eq!(parse_pdf("202403"), Some(1_709_251_200_000));
        assert_eq!(parse_pdf("D:"), None);
        assert_eq!(parse_pdf("D:2024é"), Some(1_704_067_200_000));
    }
}
