//! What a token says (RFC 7519, section 4.1; RFC 9068, section 2.2).

use serde_json::{Map, Value};
use time::{Duration, OffsetDateTime};

use crate::error::Refusal;

/// What a token is compared with.
pub struct Expected {
    pub issuer: String,
    pub audience: String,
    pub leeway: Duration,
}

/// The claims of a verified token.
#[derive(Clone, Debug, PartialEq)]
pub struct Claims {
    /// `sub`: who the token speaks for. Unique with the issuer alone.
    pub subject: String,
    /// `scope`, or where there is none `scp`; empty where there is neither.
    pub scopes: Vec<String>,
    /// `exp`, without the leeway.
    pub expires_at: OffsetDateTime,
    all: Map<String, Value>,
}

impl Claims {
    /// Any claim of the token.
    pub fn claim(&self, name: &str) -> Option<&Value> {
        self.all.get(name)
    }

    pub(crate) fn read(all: Map<String, Value>, expected: &Expected, now: OffsetDateTime) -> Result<Self, Refusal> {
        if all.get("iss").ok_or(Refusal::Claim("iss"))?.as_str() != Some(&expected.issuer) {
            return Err(Refusal::Issuer);
        }
        let is_us = match all.get("aud").ok_or(Refusal::Claim("aud"))? {
            Value::Array(names) => names.iter().any(|name| name == expected.audience.as_str()),
            name => name == expected.audience.as_str(),
        };
        if !is_us {
            return Err(Refusal::Audience);
        }
        let expires_at = instant(&all, "exp")?.ok_or(Refusal::Claim("exp"))?;
        if now >= expires_at.saturating_add(expected.leeway) {
            return Err(Refusal::Expired);
        }
        let soon = now.saturating_add(expected.leeway);
        if instant(&all, "nbf")?.is_some_and(|from| from > soon) {
            return Err(Refusal::NotYetValid);
        }
        if instant(&all, "iat")?.is_some_and(|issued| issued > soon) {
            return Err(Refusal::IssuedInFuture);
        }
        let subject = all.get("sub").and_then(Value::as_str).filter(|subject| !subject.is_empty());
        let subject = subject.ok_or(Refusal::Claim("sub"))?.to_owned();
        let scopes = match words_of(&all, "scope")? {
            Some(scopes) => scopes,
            None => words_of(&all, "scp")?.unwrap_or_default(),
        };
        Ok(Self { subject, scopes, expires_at, all })
    }
}

/// Words in a text (RFC 8693, section 4.2), or in a list as several issuers write it.
fn words_of(all: &Map<String, Value>, name: &'static str) -> Result<Option<Vec<String>>, Refusal> {
    match all.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(words)) => Ok(Some(words.split_ascii_whitespace().map(str::to_owned).collect())),
        Some(Value::Array(words)) => {
            let words = words.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<_>>();
            words.ok_or(Refusal::Claim(name)).map(Some)
        }
        Some(_) => Err(Refusal::Claim(name)),
    }
}

/// A `NumericDate`: seconds since the Unix epoch, fractions allowed.
fn instant(all: &Map<String, Value>, name: &'static str) -> Result<Option<OffsetDateTime>, Refusal> {
    let Some(value) = all.get(name) else { return Ok(None) };
    let seconds = match value.as_i64() {
        Some(seconds) => Some(seconds),
        // `as` keeps to the bounds of the type, and those are no times.
        None => value.as_f64().map(|seconds| seconds.floor() as i64),
    };
    let instant = seconds.and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok());
    instant.map(Some).ok_or(Refusal::Claim(name))
}
