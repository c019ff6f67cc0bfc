use std::time::Duration;

use time::OffsetDateTime;

use crate::cache::{KeyCache, KeyTiming};
use crate::claims::{Claims, Expected};
use crate::error::{SourceError, TokenError};
use crate::fetch::Source;
use crate::jws::Jws;

/// Issuer and audience of accepted tokens.
#[derive(Clone, Debug)]
pub struct AccessTokensOptions {
    /// Exact value of `iss`.
    pub issuer: String,
    /// Value that `aud` must equal or contain.
    pub audience: String,
    /// URL of the issuer's keys (JWKS), http or https.
    pub jwks_url: String,
    /// Tolerated difference between the issuer's clock and the local one; 60 seconds are usual.
    pub leeway: Duration,
    pub timing: KeyTiming,
}

/// Verifier of one issuer's access tokens for one audience.
pub struct AccessTokens {
    expected: Expected,
    keys: KeyCache,
}

impl AccessTokens {
    /// Builds the verifier without connecting, so that an unavailable issuer does not prevent the start. Must be called on a
    /// tokio runtime that outlives the verifier.
    ///
    /// # Errors
    /// The JWKS URL is invalid, or the HTTP client cannot be created.
    pub fn new(options: AccessTokensOptions) -> Result<Self, SourceError> {
        let AccessTokensOptions { issuer, audience, jwks_url, leeway, timing } = options;
        let keys = KeyCache::new(Source::new(&jwks_url, timing.timeout)?, timing);
        let leeway = leeway.try_into().unwrap_or(time::Duration::MAX);
        Ok(Self { expected: Expected { issuer, audience, leeway }, keys })
    }

    /// Verifies a token in JWS compact form at the time `now`. Takes tens of microseconds and does not wait once keys are
    /// cached.
    ///
    /// # Errors
    /// The reason for rejection; `KeysUnavailable` if the token passes all checks that need no keys, and there are none.
    pub async fn verify(&self, token: &str, now: OffsetDateTime) -> Result<Claims, TokenError> {
        let (jws, claims) = Jws::parse(token)?;
        // Cheap checks first: a token that fails them must not trigger a fetch or a signature check.
        let claims = Claims::read(claims, &self.expected, now)?;
        let keys = self.keys.current().await.ok_or(TokenError::KeysUnavailable)?;
        let Err(unverified) = keys.verify(&jws) else { return Ok(claims) };
        if unverified.may_change
            && let Some(newer) = self.keys.newer_than(&keys).await
        {
            newer.verify(&jws).map_err(|unverified| unverified.rejection)?;
            return Ok(claims);
        }
        Err(unverified.rejection.into())
    }
}
