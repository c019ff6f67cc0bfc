//! The `X-RateLimit-*` headers and the wait for the next window.

use std::time::Duration;

use api_types::RateLimit;
use reqwest::header::{DATE, HeaderMap};
use time::OffsetDateTime;
use time::format_description::well_known::{Rfc2822, Rfc3339};

/// The server's windows are one second long.
const WINDOW: Duration = Duration::from_secs(1);
/// A reset further away indicates clock skew.
const FURTHEST: Duration = Duration::from_secs(3);

/// Parses the headers; `None` if they are missing or invalid.
pub fn of(headers: &HeaderMap) -> Option<RateLimit> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    Some(RateLimit {
        limit_rps: text("x-ratelimit-limit-rps")?.parse().ok()?,
        remaining: text("x-ratelimit-remaining")?.parse().ok()?,
        reset_at: text("x-ratelimit-reset")?.to_owned(),
    })
}

/// Returns the time from `now` until `X-RateLimit-Reset`.
///
/// With clock skew, the reset lies in the past or far away. It is then measured against the server's `Date`, which has
/// whole seconds: the wait is at most one window too long. Without a usable `Date` the wait is a whole window.
pub fn until_reset(headers: &HeaderMap, now: OffsetDateTime) -> Duration {
    let Some(reset) = headers.get("x-ratelimit-reset").and_then(|value| value.to_str().ok()) else { return WINDOW };
    let Ok(reset) = OffsetDateTime::parse(reset, &Rfc3339) else { return WINDOW };
    let server_now = || OffsetDateTime::parse(headers.get(DATE)?.to_str().ok()?, &Rfc2822).ok();
    near(reset, now).or_else(|| near(reset, server_now()?)).unwrap_or(WINDOW)
}

/// The distance, if plausible for a reset.
fn near(reset: OffsetDateTime, now: OffsetDateTime) -> Option<Duration> {
    Duration::try_from(reset - now).ok().filter(|wait| !wait.is_zero() && *wait <= FURTHEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    #[track_caller]
    fn check(reset: Option<&'static str>, date: Option<&'static str>, expected_ms: u64) {
        let mut headers = HeaderMap::new();
        if let Some(reset) = reset {
            headers.insert("x-ratelimit-reset", reset.parse().expect("a header"));
        }
        if let Some(date) = date {
            headers.insert(DATE, date.parse().expect("a header"));
        }
        let waited = until_reset(&headers, datetime!(2026-01-05 10:00:00.25 UTC));
        assert_eq!(waited, Duration::from_millis(expected_ms));
    }

    #[test]
    fn wait_lasts_until_the_reset() {
        check(Some("2026-01-05T10:00:01Z"), None, 750);
        check(Some("2026-01-05T11:00:01+01:00"), None, 750);
    }

    #[test]
    fn clock_skew_falls_back_to_the_server_date() {
        let date = Some("Mon, 05 Jan 2026 09:00:00 GMT");
        check(Some("2026-01-05T09:00:01Z"), date, 1000);
        check(Some("2026-01-05T12:00:00Z"), Some("Mon, 05 Jan 2026 11:59:59 GMT"), 1000);
        check(Some("2026-01-05T09:00:01Z"), None, 1000);
        check(Some("2027-01-05T09:00:01Z"), date, 1000);
    }

    #[test]
    fn invalid_headers_wait_a_whole_window() {
        check(None, None, 1000);
        check(Some("soon"), Some("then"), 1000);
    }
}
