//! Claims of a token (RFC 7519, section 4.1; RFC 9068, section 2.2).

use serde_json::{Map, Value};
use time::{Duration, OffsetDateTime};

use crate::error::Rejection;

/// Values that a token's claims must match.
pub struct Expected {
    pub issuer: String,
    pub audience: String,
    pub leeway: Duration,
}

/// The claims of a verified token.
#[derive(Clone, Debug, PartialEq)]
pub struct Claims {
    /// `sub`, unique per issuer.
    pub subject: String,
    /// `scope`, or `scp` if the token has no `scope`; empty without either.
    pub scopes: Vec<String>,
    /// `exp`, without the leeway.
    pub expires_at: OffsetDateTime,
    all: Map<String, Value>,
}

impl Claims {
    /// Returns any claim of the token by name.
    pub fn claim(&self, name: &str) -> Option<&Value> {
        self.all.get(name)
    }

    /// Validates the claims at the time `now`.
    pub(crate) fn read(all: Map<String, Value>, expected: &Expected, now: OffsetDateTime) -> Result<Self, Rejection> {
        if all.get("iss").ok_or(Rejection::Claim("iss"))?.as_str() != Some(&expected.issuer) {
            return Err(Rejection::Issuer);
        }
        let matches = match all.get("aud").ok_or(Rejection::Claim("aud"))? {
            Value::Array(names) => names.iter().any(|name| name == expected.audience.as_str()),
            name => name == expected.audience.as_str(),
        };
        if !matches {
            return Err(Rejection::Audience);
        }
        let expires_at = instant(&all, "exp")?.ok_or(Rejection::Claim("exp"))?;
        if now >= expires_at.saturating_add(expected.leeway) {
            return Err(Rejection::Expired);
        }
        let soon = now.saturating_add(expected.leeway);
        if instant(&all, "nbf")?.is_some_and(|from| from > soon) {
            return Err(Rejection::NotYetValid);
        }
        if instant(&all, "iat")?.is_some_and(|issued| issued > soon) {
            return Err(Rejection::IssuedInFuture);
        }
        let subject = all.get("sub").and_then(Value::as_str).filter(|subject| !subject.is_empty());
        let subject = subject.ok_or(Rejection::Claim("sub"))?.to_owned();
        let scopes = match scope_list(&all, "scope")? {
            Some(scopes) => scopes,
            None => scope_list(&all, "scp")?.unwrap_or_default(),
        };
        Ok(Self { subject, scopes, expires_at, all })
    }
}

/// Reads scopes: a space-separated string (RFC 8693, section 4.2), or a list, as several issuers send.
fn scope_list(all: &Map<String, Value>, name: &'static str) -> Result<Option<Vec<String>>, Rejection> {
    match all.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(scopes)) => Ok(Some(scopes.split_ascii_whitespace().map(str::to_owned).collect())),
        Some(Value::Array(scopes)) => {
            let scopes = scopes.iter().map(|scope| scope.as_str().map(str::to_owned)).collect::<Option<_>>();
            scopes.ok_or(Rejection::Claim(name)).map(Some)
        }
        Some(_) => Err(Rejection::Claim(name)),
    }
}

/// Reads a `NumericDate`: seconds since the Unix epoch, fractions allowed.
fn instant(all: &Map<String, Value>, name: &'static str) -> Result<Option<OffsetDateTime>, Rejection> {
    let Some(value) = all.get(name) else { return Ok(None) };
    let seconds = match value.as_i64() {
        Some(seconds) => Some(seconds),
        // `as` saturates, and the bounds of `i64` are out of the range of times.
        None => value.as_f64().map(|seconds| seconds.floor() as i64),
    };
    let instant = seconds.and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok());
    instant.map(Some).ok_or(Rejection::Claim(name))
}
