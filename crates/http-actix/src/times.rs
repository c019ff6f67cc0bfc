//! Parsing of times in requests.

use api_types::FreshnessPolicy;
use time::format_description::well_known::{Iso8601, Rfc3339};
use time::macros::format_description;
use time::{Date, Duration, OffsetDateTime, PrimitiveDateTime};

use crate::failure::Failure;

/// Returns the exclusive lower bound of the publication time of results. `published_after` takes precedence over the freshness window.
pub(crate) fn published_after(
    policy: &FreshnessPolicy,
    now: OffsetDateTime,
) -> Result<Option<OffsetDateTime>, Failure> {
    if let Some(text) = &policy.published_after {
        return parse(text).map(Some).ok_or_else(|| {
            let field = "freshness_policy.published_after";
            Failure::invalid(field, format!("{field} must be an RFC 3339 time or `YYYY-MM-DD`, not `{text}`"))
        });
    }
    Ok(policy.freshness.map(|window| now.saturating_sub(Duration::days(window.days()))))
}

/// Returns the exclusive upper bound of the publication time of results.
pub(crate) fn published_before(policy: &FreshnessPolicy) -> Result<Option<OffsetDateTime>, Failure> {
    let Some(text) = &policy.published_before else { return Ok(None) };
    parse(text).map(Some).ok_or_else(|| {
        let field = "freshness_policy.published_before";
        Failure::invalid(field, format!("{field} must be an RFC 3339 time or `YYYY-MM-DD`, not `{text}`"))
    })
}

/// Parses an RFC 3339 time, or a date as the start of that day in UTC.
pub(crate) fn parse(text: &str) -> Option<OffsetDateTime> {
    if let Ok(at) = OffsetDateTime::parse(text, &Rfc3339) {
        return Some(at);
    }
    let date = Date::parse(text, format_description!("[year]-[month]-[day]")).ok()?;
    (text.len() == 10).then(|| date.midnight().assume_utc())
}

/// Parses a time in ISO 8601: a day, or a time of day with or without an offset. Without an offset it is UTC.
pub(crate) fn parse_iso8601(text: &str) -> Option<OffsetDateTime> {
    parse(text)
        .or_else(|| OffsetDateTime::parse(text, &Iso8601::PARSING).ok())
        .or_else(|| PrimitiveDateTime::parse(text, &Iso8601::PARSING).ok().map(PrimitiveDateTime::assume_utc))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use api_types::Freshness;
    use time::macros::datetime;

    fn check(text: &str, expected: Option<OffsetDateTime>) {
        let policy = FreshnessPolicy {
            published_after: Some(text.to_owned()),
            freshness: Some(Freshness::Pd),
            ..Default::default()
        };
        let bound = published_after(&policy, datetime!(2026-06-15 12:00 UTC));
        assert_eq!(bound.ok().flatten(), expected, "{text}");
    }

    #[test]
    fn a_bound_is_a_time_or_a_day() {
        check("2026-01-05T10:00:00Z", Some(datetime!(2026-01-05 10:00 UTC)));
        check("2026-01-05T10:00:00.5+02:00", Some(datetime!(2026-01-05 08:00:00.5 UTC)));
        check("2026-01-05", Some(datetime!(2026-01-05 00:00 UTC)));
        for bad in [
            "yesterday",
            "2026-13-01",
            "2026-02-30",
            "2026-1-5",
            "+2026-01-05",
            "2026-01-05T10:00:00",
            "",
            "1767607200",
        ] {
            check(bad, None);
        }
    }

    #[test]
    fn iso_times_without_offset_are_utc() {
        for (text, expected) in [
            ("2026-01-05", Some(datetime!(2026-01-05 00:00 UTC))),
            ("2026-01-05T10:00:00Z", Some(datetime!(2026-01-05 10:00 UTC))),
            ("2026-01-05T10:00:00", Some(datetime!(2026-01-05 10:00 UTC))),
            ("2026-01-05T10:00:00.25", Some(datetime!(2026-01-05 10:00:00.25 UTC))),
            ("2026-01-05T10:00", Some(datetime!(2026-01-05 10:00 UTC))),
            ("2026-01-05T10:00+02:00", Some(datetime!(2026-01-05 08:00 UTC))),
            ("20260105T100000", Some(datetime!(2026-01-05 10:00 UTC))),
            ("2026-01-05T10:00:00+99:00", None),
            ("2026-01-05T10:00:00x", None),
            ("2026-01-05T25:00:00", None),
            ("2026-02-30T10:00:00", None),
            ("10:00", None),
            ("1767607200", None),
            ("", None),
        ] {
            assert_eq!(parse_iso8601(text), expected, "{text}");
        }
    }

    #[test]
    fn a_window_ends_now() {
        let now = datetime!(2026-06-15 12:00 UTC);
        let bound = |freshness| published_after(&FreshnessPolicy { freshness, ..Default::default() }, now).unwrap();
        assert_eq!(bound(None), None);
        assert_eq!(bound(Some(Freshness::Pd)), Some(datetime!(2026-06-14 12:00 UTC)));
        assert_eq!(bound(Some(Freshness::Pw)), Some(datetime!(2026-06-08 12:00 UTC)));
        assert_eq!(bound(Some(Freshness::Pm)), Some(datetime!(2026-05-15 12:00 UTC)));
        assert_eq!(bound(Some(Freshness::Py)), Some(datetime!(2025-06-15 12:00 UTC)));
    }
}
