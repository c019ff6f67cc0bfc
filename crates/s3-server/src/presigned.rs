//! Parameters of a presigned URL. Trusted only after its signature was verified.

use http::Uri;
use time::{Date, Month, OffsetDateTime, Time};
use url::form_urlencoded;

/// Query parameters that matter beyond the signature check.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct PresignedUrl {
    /// Percent-decoded, so that all spellings of a signature are equal.
    pub signature: String,
    /// Unix seconds.
    pub signed_at: i64,
    /// Unix seconds.
    pub expires_at: i64,
}

impl PresignedUrl {
    /// Returns `None` if the request is not presigned, and an error if the parameters are malformed.
    pub fn find(uri: &Uri) -> Result<Option<Self>, ()> {
        let (mut signature, mut date, mut expires) = (None, None, None);
        for (name, value) in form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
            let field = match &*name {
                "X-Amz-Signature" => &mut signature,
                "X-Amz-Date" => &mut date,
                "X-Amz-Expires" => &mut expires,
                _ => continue,
            };
            if field.replace(value.into_owned()).is_some() {
                return Err(());
            }
        }
        let Some(signature) = signature else { return Ok(None) };
        let signed_at = date.as_deref().and_then(parse_amz_date).ok_or(())?;
        let expires: u32 = expires.and_then(|seconds| seconds.parse().ok()).ok_or(())?;
        Ok(Some(Self { signature, signed_at, expires_at: signed_at + i64::from(expires) }))
    }

    /// Lifetime in seconds.
    pub fn lifetime(&self) -> i64 {
        self.expires_at - self.signed_at
    }
}

/// Returns the size of the upload that the URL states, in bytes. The presigner also signs it as `content-length`; without it
/// in the URL, another length would only be an invalid signature.
pub(crate) fn stated_size(uri: &Uri) -> Option<u64> {
    let mut parameters = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    parameters.find(|(name, _)| name == "x-size").and_then(|(_, size)| size.parse().ok())
}

/// Parses a timestamp such as `20130524T000000Z` into Unix seconds.
fn parse_amz_date(text: &str) -> Option<i64> {
    let digits = |range: std::ops::Range<usize>| -> Option<u16> {
        let part = text.get(range)?;
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())?
    };
    let byte = |value: u16| u8::try_from(value).ok();
    if text.len() != 16 || text.get(8..9) != Some("T") || text.get(15..) != Some("Z") {
        return None;
    }
    let month = Month::try_from(byte(digits(4..6)?)?).ok()?;
    let date = Date::from_calendar_date(i32::from(digits(0..4)?), month, byte(digits(6..8)?)?).ok()?;
    let time = Time::from_hms(byte(digits(9..11)?)?, byte(digits(11..13)?)?, byte(digits(13..15)?)?).ok()?;
    Some(OffsetDateTime::new_utc(date, time).unix_timestamp())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use super::*;

    fn find(query: &str) -> Result<Option<PresignedUrl>, ()> {
        PresignedUrl::find(&format!("/b/k?{query}").parse().unwrap())
    }

    #[test]
    fn encodings_of_a_signature_are_equal() {
        let plain = find("X-Amz-Date=20130524T000000Z&X-Amz-Expires=900&X-Amz-Signature=abc").unwrap().unwrap();
        let encoded = find("X-Amz-Expires=900&X-Amz-%53ignature=%61b%63&X-Amz-Date=20130524T000000Z").unwrap().unwrap();
        assert_eq!(plain, encoded);
        assert_eq!((plain.signed_at, plain.lifetime()), (1_369_353_600, 900));
    }

    #[test]
    fn the_size_is_read_from_the_url() {
        let size = |query: &str| stated_size(&format!("/b/k?{query}").parse().unwrap());
        assert_eq!(size("a=b&x-size=48213&x-nonce=1"), Some(48213));
        for query in ["a=b", "x-size=", "x-size=-1", "x-size=1e3"] {
            assert_eq!(size(query), None, "{query}");
        }
    }

    #[test]
    fn malformed_parameters_are_rejected() {
        assert_eq!(find("a=b"), Ok(None));
        for query in [
            "X-Amz-Signature=a",
            "X-Amz-Signature=a&X-Amz-Signature=b&X-Amz-Date=20130524T000000Z&X-Amz-Expires=900",
            "X-Amz-Signature=a&X-Amz-Date=20131324T000000Z&X-Amz-Expires=900",
            "X-Amz-Signature=a&X-Amz-Date=2013052%C3%A9000000Z&X-Amz-Expires=900",
            "X-Amz-Signature=a&X-Amz-Date=20130524T000000Z&X-Amz-Expires=-1",
        ] {
            assert_eq!(find(query), Err(()), "{query}");
        }
    }
}
