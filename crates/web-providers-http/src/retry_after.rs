//! Delays that providers ask for.

use std::time::Duration;

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// Longer delays are cut to it.
const MAX_DELAY: Duration = Duration::from_hours(24);

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
        Err(_) => {
            let now = httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?).ok()?;
            Some(httpdate::parse_http_date(value).ok()?.duration_since(now).unwrap_or_default())
        }
    }
}

/// Returns the time to the end of the longest window whose requests are used up. Both headers list the windows in one order.
fn exhausted_window(headers: &HeaderMap) -> Option<Duration> {
    let list = |name: &str| -> Option<Vec<u64>> {
        headers.get(name)?.to_str().ok()?.split(',').map(|number| number.trim().parse().ok()).collect()
    };
    let (remaining, reset) = (list("x-ratelimit-remaining")?, list("x-ratelimit-reset")?);
    let exhausted = remaining.iter().zip(reset).filter(|(left, _)| **left == 0);
    exhausted.map(|(_, seconds)| Duration::from_secs(seconds)).max()
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
}
