//! Access tokens of the configured issuer, behind the seam of the use cases.

use std::sync::Arc;

use access_tokens::{AccessTokens, TokenError};
use app::authentication::{TokenClaims, TokenVerifier, VerifyError};
use async_trait::async_trait;
use ingest::clock::to_date_time;
use model::Clock;

pub struct IssuerTokens {
    pub tokens: AccessTokens,
    pub clock: Arc<dyn Clock>,
    pub issuer: String,
    /// Name of the claim with the organization's id.
    pub organization_claim: String,
}

#[async_trait]
impl TokenVerifier for IssuerTokens {
    async fn verify(&self, token: &str) -> Result<TokenClaims, VerifyError> {
        let claims = self.tokens.verify(token, to_date_time(self.clock.now())).await.map_err(|error| match error {
            TokenError::Malformed(_) | TokenError::Rejected(_) => VerifyError::Rejected(error.into()),
            TokenError::KeysUnavailable => VerifyError::Unavailable(error.into()),
        })?;
        let organization = claims.claim(&self.organization_claim).and_then(|claim| claim.as_str()).map(str::to_owned);
        Ok(TokenClaims {
            issuer: self.issuer.clone(),
            organization,
            subject: claims.subject,
            scopes: claims.scopes,
            expires_at: claims.expires_at,
        })
    }
}
