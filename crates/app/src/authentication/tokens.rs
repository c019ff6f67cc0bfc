//! Authentication by access token: caches verified tokens and maps their claims to viewers.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docstore::Organization;
use ingest::clock::from_date_time;
use model::{Clock, OrganizationId, Scope, Timestamp};
use moka::future::Cache;
use time::OffsetDateTime;

use super::CACHE_TTL;
use crate::error::{BoxError, Result};
use crate::{Error, Identity, keys};

/// TTL of verified tokens. Signatures and claims never change; only the issuer's keys do. Keys are fetched every ten
/// minutes, so caching hardly prolongs the trust in a withdrawn key.
const VERIFIED_TTL: Duration = Duration::from_secs(60);
const CACHED_TOKENS: u64 = 10_000;
const CACHED_ORGANIZATIONS: u64 = 10_000;

/// Verifier of one issuer's access tokens.
#[async_trait]
pub trait TokenVerifier: Send + Sync {
    /// Verifies a token within two seconds. The input has exactly two dots and is otherwise arbitrary.
    async fn verify(&self, token: &str) -> Result<TokenClaims, VerifyError>;
}

/// Claims of a verified token.
#[derive(Clone, Debug)]
pub struct TokenClaims {
    pub issuer: String,
    /// Unique per issuer.
    pub subject: String,
    /// Claim that names the organization, if it is a string.
    pub organization: Option<String>,
    pub scopes: Vec<String>,
    pub expires_at: OffsetDateTime,
}

/// Failure to verify a token.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The token is invalid. The cause is logged and not sent to the caller.
    #[error("invalid access token")]
    Rejected(#[source] BoxError),
    /// The issuer's keys are unavailable, so the token cannot be verified now.
    #[error("the access token cannot be verified")]
    Unavailable(#[source] BoxError),
}

/// Returns true for three parts, the shape of JWS compact serialization (RFC 7515, section 7.1).
pub(super) fn looks_like_token(credential: &str) -> bool {
    credential.bytes().filter(|byte| *byte == b'.').count() == 2
}

/// Authenticates access tokens through a verifier, with caches of verified tokens and organizations.
pub(crate) struct TokenAuthenticator {
    verifier: Arc<dyn TokenVerifier>,
    clock: Arc<dyn Clock>,
    /// Verified tokens by digest. Rejected ones are not cached: they could evict valid ones, and sending them costs more than
    /// rejecting them.
    verified: Cache<[u8; 32], Arc<Bearer>>,
    pub(super) organizations: Cache<OrganizationId, Option<Arc<Organization>>>,
}

/// Holder of a verified token.
pub(super) struct Bearer {
    pub organization_id: OrganizationId,
    pub identity: Identity,
    pub scopes: Vec<Scope>,
    expires_at: Timestamp,
}

impl TokenAuthenticator {
    pub fn new(verifier: Arc<dyn TokenVerifier>, clock: Arc<dyn Clock>) -> Self {
        Self {
            verifier,
            clock,
            verified: Cache::builder().max_capacity(CACHED_TOKENS).time_to_live(VERIFIED_TTL).build(),
            organizations: Cache::builder().max_capacity(CACHED_ORGANIZATIONS).time_to_live(CACHE_TTL).build(),
        }
    }

    /// Returns the holder of a token; `None` if the token is invalid or names no organization.
    pub(super) async fn bearer(&self, token: &str) -> Result<Option<Arc<Bearer>>> {
        let digest = keys::digest(token);
        // After expiry every request reaches the verifier, which knows the clock leeway.
        if let Some(bearer) = self.verified.get(&digest).await
            && self.clock.now() < bearer.expires_at
        {
            return Ok(Some(bearer));
        }
        let claims = match self.verifier.verify(token).await {
            Ok(claims) => claims,
            Err(VerifyError::Rejected(cause)) => {
                tracing::debug!(error = &*cause as &dyn std::error::Error, "access token rejected");
                return Ok(None);
            }
            Err(VerifyError::Unavailable(source)) => {
                return Err(Error::Unavailable { backend: "token issuer", source });
            }
        };
        let Some(bearer) = Bearer::from_claims(&claims).map(Arc::new) else {
            tracing::debug!("access token names no organization");
            return Ok(None);
        };
        self.verified.insert(digest, Arc::clone(&bearer)).await;
        Ok(Some(bearer))
    }
}

impl Bearer {
    fn from_claims(claims: &TokenClaims) -> Option<Self> {
        Some(Self {
            organization_id: claims.organization.as_deref()?.parse().ok()?,
            identity: Identity::subject(&claims.issuer, &claims.subject),
            // Tokens may carry scopes of other services. Those of the operator belong to keys only.
            scopes: Scope::of_organizations()
                .filter(|scope| claims.scopes.iter().any(|given| given == scope.as_str()))
                .collect(),
            expires_at: from_date_time(claims.expires_at),
        })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use ingest::clock::to_date_time;
    use model::ManualClock;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);
    const ORGANIZATION: &str = "0c6f1f2e-3f54-4b5e-9d0e-6f6f6f6f6f6f";

    /// Verifier with the same answer for every token.
    struct FakeVerifier {
        answer: Mutex<Option<Result<TokenClaims, VerifyError>>>,
        calls: AtomicUsize,
    }

    #[async_trait]
    impl TokenVerifier for FakeVerifier {
        async fn verify(&self, _token: &str) -> Result<TokenClaims, VerifyError> {
            self.calls.fetch_add(1, Ordering::SeqCst);
            match &*self.answer.lock().unwrap() {
                Some(Ok(claims)) => Ok(claims.clone()),
                Some(Err(VerifyError::Unavailable(_))) => Err(VerifyError::Unavailable("no keys".into())),
                _ => Err(VerifyError::Rejected("bad".into())),
            }
        }
    }

    fn authenticator(answer: Option<Result<TokenClaims, VerifyError>>) -> (Arc<FakeVerifier>, TokenAuthenticator) {
        let verifier = Arc::new(FakeVerifier { answer: Mutex::new(answer), calls: AtomicUsize::new(0) });
        let clock = Arc::new(ManualClock::starting_at(NOW));
        (Arc::clone(&verifier), TokenAuthenticator::new(verifier, clock))
    }

    fn claims(expires_in: time::Duration) -> TokenClaims {
        TokenClaims {
            issuer: "https://issuer.example".to_owned(),
            subject: "user-1".to_owned(),
            organization: Some(ORGANIZATION.to_owned()),
            scopes: ["openid", "files:read", "web:manage", "search:read", "search:read"].map(str::to_owned).to_vec(),
            expires_at: to_date_time(NOW) + expires_in,
        }
    }

    #[tokio::test]
    async fn valid_token_is_verified_once_and_keeps_known_scopes() {
        let (verifier, authenticator) = authenticator(Some(Ok(claims(time::Duration::minutes(5)))));
        for _ in 0..3 {
            let bearer = authenticator.bearer("a.b.c").await.unwrap().unwrap();
            assert_eq!(bearer.organization_id, ORGANIZATION.parse().unwrap());
            assert_eq!(bearer.scopes, [Scope::SearchRead, Scope::FilesRead]);
        }
        assert_eq!(verifier.calls.load(Ordering::SeqCst), 1);
        authenticator.bearer("a.b.d").await.unwrap().unwrap();
        assert_eq!(verifier.calls.load(Ordering::SeqCst), 2, "another token is verified separately");
    }

    #[tokio::test]
    async fn expired_token_is_verified_each_time() {
        let (verifier, authenticator) = authenticator(Some(Ok(claims(time::Duration::seconds(-1)))));
        assert!(authenticator.bearer("a.b.c").await.unwrap().is_some(), "within the verifier's leeway");
        *verifier.answer.lock().unwrap() = None;
        assert!(authenticator.bearer("a.b.c").await.unwrap().is_none());
    }

    #[tokio::test]
    async fn unavailable_verifier_is_an_error_and_retried() {
        let (verifier, authenticator) = authenticator(Some(Err(VerifyError::Unavailable("no keys".into()))));
        let error = authenticator.bearer("a.b.c").await.err().unwrap();
        assert!(matches!(error, Error::Unavailable { backend: "token issuer", .. }));
        *verifier.answer.lock().unwrap() = Some(Ok(claims(time::Duration::minutes(5))));
        assert!(authenticator.bearer("a.b.c").await.unwrap().is_some());
    }

    #[tokio::test]
    async fn organization_claim_must_be_an_id() {
        for organization in [None, Some(""), Some("acme")] {
            let claims =
                TokenClaims { organization: organization.map(str::to_owned), ..claims(time::Duration::minutes(5)) };
            assert!(authenticator(Some(Ok(claims))).1.bearer("a.b.c").await.unwrap().is_none(), "{organization:?}");
        }
    }

    #[test]
    fn only_three_parts_look_like_a_token() {
        assert!(looks_like_token("a.b.c"));
        for other in ["", "a.b", "a.b.c.d", keys::generate().as_str()] {
            assert!(!looks_like_token(other), "{other}");
        }
    }
}
