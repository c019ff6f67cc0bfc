use std::time::Duration;

use time::OffsetDateTime;

use crate::cache::{KeyCache, KeyTiming};
use crate::claims::{Claims, Expected};
use crate::error::{SourceError, TokenError};
use crate::fetch::Source;
use crate::jws::Jws;

#[derive(Clone, Debug)]
pub struct AccessTokensOptions {
    /// `iss`, exactly.
    pub issuer: String,
    /// What `aud` must be, or hold.
    pub audience: String,
    /// Where the issuer publishes its keys (JWKS), http or https.
    pub jwks_url: String,
    /// How far the issuer's clock may be off ours; 60 seconds are usual.
    pub leeway: Duration,
    pub timing: KeyTiming,
}

/// Verifies the access tokens of one issuer that are meant for one audience.
pub struct AccessTokens {
    expected: Expected,
    keys: KeyCache,
}

impl AccessTokens {
    /// Does not reach out yet: an issuer that is away at the start is no error. Must be called on a tokio runtime,
    /// which must live as long as this.
    ///
    /// # Errors
    /// The address of the keys is none.
    pub fn new(options: AccessTokensOptions) -> Result<Self, SourceError> {
        let AccessTokensOptions { issuer, audience, jwks_url, leeway, timing } = options;
        let keys = KeyCache::new(Source::new(&jwks_url, timing.timeout)?, timing);
        let leeway = leeway.try_into().unwrap_or(time::Duration::MAX);
        Ok(Self { expected: Expected { issuer, audience, leeway }, keys })
    }

    /// Checks a token in JWS compact form, at the time `now`. Tens of microseconds, and no wait once keys are known.
    ///
    /// # Errors
    /// What is wrong with the token; `KeysUnavailable` when nothing is wrong with it that can be seen without keys, and
    /// there are none.
    pub async fn verify(&self, token: &str, now: OffsetDateTime) -> Result<Claims, TokenError> {
        let (jws, claims) = Jws::parse(token)?;
        // First what costs nothing: a token that would be refused anyway has no keys fetched and no signature computed.
        let claims = Claims::read(claims, &self.expected, now)?;
        let keys = self.keys.current().await.ok_or(TokenError::KeysUnavailable)?;
        let Err(unverified) = keys.verify(&jws) else { return Ok(claims) };
        if unverified.may_change
            && let Some(newer) = self.keys.newer_than(&keys).await
        {
            newer.verify(&jws).map_err(|unverified| unverified.refusal)?;
            return Ok(claims);
        }
        Err(unverified.refusal.into())
    }
}
