//! Signatures of the Standard Webhooks specification, version 1.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use model::Timestamp;
use sha2::Sha256;

/// Prefix of secrets.
const PREFIX: &str = "whsec_";
/// Prefix of signatures.
const VERSION: &str = "v1,";
/// Random bytes of a secret; the specification demands 24 to 64.
const SECRET_BYTES: usize = 32;

pub const ID: &str = "webhook-id";
pub const TIMESTAMP: &str = "webhook-timestamp";
pub const SIGNATURE: &str = "webhook-signature";

/// Headers of a delivery that its signature concerns.
#[derive(Clone, Copy, Debug)]
pub struct Headers<'a> {
    /// `webhook-id`: the same in all attempts, so that receivers can drop repetitions.
    pub id: &'a str,
    /// `webhook-timestamp`: time of the attempt, in seconds.
    pub timestamp: &'a str,
    /// `webhook-signature`: one or more signatures, separated by spaces.
    pub signature: &'a str,
}

/// Reason for which a delivery is not authentic.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum VerifyError {
    #[error("the timestamp is not a number of seconds")]
    MalformedTimestamp,
    #[error("the timestamp is too far from the current time")]
    OutsideTolerance,
    #[error("no signature matches")]
    NoMatch,
}

/// Generates a secret.
pub fn generate_secret() -> String {
    // The thread-local generator is cryptographically secure and seeded by the operating system.
    let bytes: [u8; SECRET_BYTES] = rand::random();
    format!("{PREFIX}{}", STANDARD.encode(bytes))
}

/// Returns the `webhook-signature` of a body: one signature for each secret. Malformed secrets sign nothing.
pub fn sign<'a>(secrets: impl IntoIterator<Item = &'a str>, id: &str, timestamp: &str, body: &[u8]) -> String {
    let signature = |secret| {
        let mac = mac(secret, id, timestamp, body)?;
        Some(format!("{VERSION}{}", STANDARD.encode(mac.finalize().into_bytes())))
    };
    secrets.into_iter().filter_map(signature).collect::<Vec<_>>().join(" ")
}

/// Verifies that one of the secrets signed the body, and that the attempt was made within `tolerance` of `now`, which limits
/// replays. The comparison takes constant time.
///
/// # Errors
/// One variant per cause.
pub fn verify<'a>(
    secrets: impl IntoIterator<Item = &'a str>,
    headers: Headers<'_>,
    body: &[u8],
    now: Timestamp,
    tolerance: Duration,
) -> Result<(), VerifyError> {
    let at: i64 = headers.timestamp.parse().map_err(|_| VerifyError::MalformedTimestamp)?;
    if (now.as_millis() / 1_000).abs_diff(at) > tolerance.as_secs() {
        return Err(VerifyError::OutsideTolerance);
    }
    let signatures: Vec<Vec<u8>> = headers
        .signature
        .split(' ')
        .filter_map(|signature| STANDARD.decode(signature.strip_prefix(VERSION)?).ok())
        .collect();
    let matches = |secret| {
        let mac = mac(secret, headers.id, headers.timestamp, body);
        mac.is_some_and(|mac| signatures.iter().any(|signature| mac.clone().verify_slice(signature).is_ok()))
    };
    if secrets.into_iter().any(matches) { Ok(()) } else { Err(VerifyError::NoMatch) }
}

fn mac(secret: &str, id: &str, timestamp: &str, body: &[u8]) -> Option<Hmac<Sha256>> {
    let key = STANDARD.decode(secret.strip_prefix(PREFIX).unwrap_or(secret)).ok().filter(|key| !key.is_empty())?;
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).ok()?;
    mac.update(format!("{id}.{timestamp}.").as_bytes());
    mac.update(body);
    Some(mac)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Example of the specification's own libraries.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const MESSAGE: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const TIME: &str = "1614265330";
    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    const EXPECTED: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    fn check(secrets: &[&str], signature: &str, now: i64) -> Result<(), VerifyError> {
        let headers = Headers { id: MESSAGE, timestamp: TIME, signature };
        let now = Timestamp::from_millis(now * 1_000);
        verify(secrets.iter().copied(), headers, BODY, now, Duration::from_mins(5))
    }

    #[test]
    fn signatures_are_those_of_the_specification() {
        assert_eq!(sign([SECRET], MESSAGE, TIME, BODY), EXPECTED);
        assert_eq!(check(&[SECRET], EXPECTED, 1_614_265_330), Ok(()));
    }

    #[test]
    fn either_secret_of_a_rotation_verifies() {
        let new = generate_secret();
        let both = sign([new.as_str(), SECRET], MESSAGE, TIME, BODY);
        assert_eq!(both.split(' ').count(), 2);
        assert!(both.ends_with(EXPECTED));
        for secrets in [&[SECRET][..], &[&new], &["whsec_", &new]] {
            assert_eq!(check(secrets, &both, 1_614_265_330), Ok(()));
        }
    }

    #[test]
    fn forgeries_and_replays_are_rejected() {
        let at = 1_614_265_330;
        let other = generate_secret();
        for signature in ["", "v1,", "v1,AAAA", "v1,%", &EXPECTED[3..], &EXPECTED.replace("v1,", "v2,")] {
            assert_eq!(check(&[SECRET], signature, at), Err(VerifyError::NoMatch), "{signature}");
        }
        assert_eq!(check(&[&other, "whsec_", ""], EXPECTED, at), Err(VerifyError::NoMatch));
        for now in [at - 301, at + 301, i64::MAX / 1_000, i64::MIN / 1_000] {
            assert_eq!(check(&[SECRET], EXPECTED, now), Err(VerifyError::OutsideTolerance), "{now}");
        }
        let headers = Headers { id: MESSAGE, timestamp: "soon", signature: EXPECTED };
        let outcome = verify([SECRET], headers, BODY, Timestamp::from_millis(0), Duration::MAX);
        assert_eq!(outcome, Err(VerifyError::MalformedTimestamp));
    }

    #[test]
    fn secrets_differ_and_have_their_length() {
        let secret = generate_secret();
        assert_eq!(STANDARD.decode(&secret[PREFIX.len()..]).expect("base64").len(), SECRET_BYTES);
        assert_ne!(secret, generate_secret());
    }
}
