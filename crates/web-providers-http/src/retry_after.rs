//! Delays that providers ask for.

use std::time::{Duration, SystemTime};

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// Longer delays are cut to it.
const MAX_DELAY: Duration = Duration::from_hours(24);

/// Smallest number that is a time in Unix seconds (September 2001) and no duration (31 years).
const FIRST_UNIX_TIME: u64 = 1_000_000_000;

/// Returns the delay before the next request: `Retry-After` (RFC 9110, 10.2.3), else the longest window of `X-RateLimit-Reset` in which
/// nothing remains.
pub fn delay(headers: &HeaderMap) -> Option<Duration> {
    let delay = retry_after(headers).or_else(|| exhausted_window(headers))?;
    Some(delay.min(MAX_DELAY))
}

/// Parses `Retry-After`. A date is relative to the endpoint's own clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    match value.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => Some(httpdate::parse_http_date(value).ok()?.duration_since(date(headers)?).unwrap_or_default()),
    }
}

/// Returns the time by the endpoint's own clock.
fn date(headers: &HeaderMap) -> Option<SystemTime> {
    httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?).ok()
}

/// Returns the time to the end of the longest window whose requests are used up. Both headers list the windows in one order. Some
/// endpoints state the time in Unix seconds at which a window ends, which says nothing without their own time.
fn exhausted_window(headers: &HeaderMap) -> Option<Duration> {
    let list = |name: &str| -> Option<Vec<u64>> {
        headers.get(name)?.to_str().ok()?.split(',').map(|number| number.trim().parse().ok()).collect()
    };
    let (remaining, reset) = (list("x-ratelimit-remaining")?, list("x-ratelimit-reset")?);
    let exhausted = remaining.iter().zip(reset).filter(|(left, _)| **left == 0);
    let now = date(headers).and_then(|date| date.duration_since(SystemTime::UNIX_EPOCH).ok());
    let time_left = |seconds: u64| match seconds {
        FIRST_UNIX_TIME.. => Some(Duration::from_secs(seconds).saturating_sub(now?)),
        _ => Some(Duration::from_secs(seconds)),
    };
    exhausted.filter_map(|(_, seconds)| time_left(seconds)).max()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn delay_of(headers: &[(&'static str, &str)]) -> Option<u64> {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        delay(&headers).map(|delay| delay.as_secs())
    }

    #[test]
    fn delays_of_all_forms_are_limited() {
        let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(delay_of(&[("retry-after", "7")]), Some(7));
        assert_eq!(delay_of(&[("retry-after", "18446744073709551615")]), Some(86_400));
        assert_eq!(delay_of(&[date, ("retry-after", "Sun, 06 Nov 1994 08:50:37 GMT")]), Some(60));
        assert_eq!(delay_of(&[("retry-after", "soon")]), None);
        assert_eq!(delay_of(&[]), None);
    }

    #[test]
    fn exhausted_window_decides() {
        let windows =
            |remaining, reset| delay_of(&[("x-ratelimit-remaining", remaining), ("x-ratelimit-reset", reset)]);
        assert_eq!(windows("0, 1999", "1, 1419704"), Some(1));
        assert_eq!(windows("0, 0", "1, 3600"), Some(3_600));
        assert_eq!(windows("1, 1", "1, 3600"), None);
        assert_eq!(windows("x", "y"), None);
    }

    #[test]
    fn end_of_a_window_in_unix_time_is_relative_to_the_date() {
        let date = ("date", "Thu, 01 Jan 2026 12:00:00 GMT");
        let windows = |remaining, reset| [("x-ratelimit-remaining", remaining), ("x-ratelimit-reset", reset)];
        let [remaining, reset] = windows("0", "1767268860");
        assert_eq!(delay_of(&[date, remaining, reset]), Some(60));
        assert_eq!(delay_of(&[remaining, reset]), None, "no time to compare with");
        let [remaining, reset] = windows("0, 0", "1767268740, 7");
        assert_eq!(delay_of(&[date, remaining, reset]), Some(7), "the first window has ended");
    }
}
