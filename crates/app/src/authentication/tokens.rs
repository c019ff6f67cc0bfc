//! Access tokens of an issuer: what the service makes of one that was verified.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docstore::Organization;
use ingest::clock::from_date_time;
use model::{Clock, OrganizationId, Scope, Timestamp};
use moka::future::Cache;
use time::OffsetDateTime;

use super::CACHED_FOR;
use crate::error::{BoxError, Result};
use crate::{Error, Identity, keys};

/// A signature that was good stays good, and what a token says never changes: only the issuer's keys may. They are asked
/// for every ten minutes, so a key that the issuer withdraws is trusted for hardly longer than without this.
const VERIFIED_FOR: Duration = Duration::from_secs(60);
const CACHED_TOKENS: u64 = 10_000;
const CACHED_ORGANIZATIONS: u64 = 10_000;

/// Tells whether an access token is good, and what it says: the seam to whatever knows the issuer.
#[async_trait]
pub trait TokenVerifier: Send + Sync {
    /// Called with two dots and three parts between; everything else may be anything. Answers within two seconds.
    async fn verify(&self, token: &str) -> Result<TokenClaims, TokenFault>;
}

/// What a good token says.
#[derive(Clone, Debug)]
pub struct TokenClaims {
    pub issuer: String,
    /// Unique with the issuer alone.
    pub subject: String,
    /// The claim that names the organization, where it is a string.
    pub organization: Option<String>,
    pub scopes: Vec<String>,
    pub expires_at: OffsetDateTime,
}

/// Why nothing is known of a token.
#[derive(Debug, thiserror::Error)]
pub enum TokenFault {
    /// It is not good. The cause is for the log alone.
    #[error("the access token is not taken")]
    Refused(#[source] BoxError),
    /// No fault of the token: it cannot be checked now.
    #[error("the access token cannot be checked")]
    Unavailable(#[source] BoxError),
}

/// Three parts, as JWS compact serialization has them (RFC 7515, section 7.1).
pub(super) fn looks_like_token(credential: &str) -> bool {
    credential.bytes().filter(|byte| *byte == b'.').count() == 2
}

/// The verifier, with what it and the database said a moment ago.
pub(crate) struct TokenDoor {
    verifier: Arc<dyn TokenVerifier>,
    clock: Arc<dyn Clock>,
    /// By the digest of the token. Refused ones are not kept: they cost their sender more than us, and could push out
    /// the good ones.
    verified: Cache<[u8; 32], Arc<Bearer>>,
    pub(super) organizations: Cache<OrganizationId, Option<Arc<Organization>>>,
}

/// Who holds a good token.
pub(super) struct Bearer {
    pub organization_id: OrganizationId,
    pub identity: Identity,
    pub scopes: Vec<Scope>,
    expires_at: Timestamp,
}

impl TokenDoor {
    pub fn new(verifier: Arc<dyn TokenVerifier>, clock: Arc<dyn Clock>) -> Self {
        Self {
            verifier,
            clock,
            verified: Cache::builder().max_capacity(CACHED_TOKENS).time_to_live(VERIFIED_FOR).build(),
            organizations: Cache::builder().max_capacity(CACHED_ORGANIZATIONS).time_to_live(CACHED_FOR).build(),
        }
    }

    /// Who holds the token; `None` when it is not good, or names no organization.
    pub(super) async fn bearer(&self, token: &str) -> Result<Option<Arc<Bearer>>> {
        let digest = keys::digest(token);
        // From its expiry on the verifier is asked every time: it knows how far clocks may differ.
        if let Some(bearer) = self.verified.get(&digest).await
            && self.clock.now() < bearer.expires_at
        {
            return Ok(Some(bearer));
        }
        let claims = match self.verifier.verify(token).await {
            Ok(claims) => claims,
            Err(TokenFault::Refused(cause)) => {
                tracing::debug!(error = &*cause as &dyn std::error::Error, "an access token was refused");
                return Ok(None);
            }
            Err(TokenFault::Unavailable(source)) => {
                return Err(Error::Unavailable { backend: "token issuer", source });
            }
        };
        let Some(bearer) = Bearer::of(&claims).map(Arc::new) else {
            tracing::debug!("an access token names no organization");
            return Ok(None);
        };
        self.verified.insert(digest, Arc::clone(&bearer)).await;
        Ok(Some(bearer))
    }
}

impl Bearer {
    fn of(claims: &TokenClaims) -> Option<Self> {
        Some(Self {
            organization_id: claims.organization.as_deref()?.parse().ok()?,
            identity: Identity::subject(&claims.issuer, &claims.subject),
            // Issuers give scopes for other services too.
            scopes: Scope::ALL
                .iter()
                .copied()
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

    /// Says the same of every token.
    struct Fake {
        answer: Mutex<Option<Result<TokenClaims, TokenFault>>>,
        asked: AtomicUsize,
    }

    #[async_trait]
    impl TokenVerifier for Fake {
        async fn verify(&self, _token: &str) -> Result<TokenClaims, TokenFault> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            match &*self.answer.lock().unwrap() {
                Some(Ok(claims)) => Ok(claims.clone()),
                Some(Err(TokenFault::Unavailable(_))) => Err(TokenFault::Unavailable("away".into())),
                _ => Err(TokenFault::Refused("bad".into())),
            }
        }
    }

    fn door(answer: Option<Result<TokenClaims, TokenFault>>) -> (Arc<Fake>, TokenDoor) {
        let fake = Arc::new(Fake { answer: Mutex::new(answer), asked: AtomicUsize::new(0) });
        (Arc::clone(&fake), TokenDoor::new(fake, Arc::new(ManualClock::starting_at(NOW))))
    }

    fn claims(expires_in: time::Duration) -> TokenClaims {
        TokenClaims {
            issuer: "https://issuer.example".to_owned(),
            subject: "user-1".to_owned(),
            organization: Some(ORGANIZATION.to_owned()),
            scopes: ["openid", "files:read", "search:read", "search:read"].map(str::to_owned).to_vec(),
            expires_at: to_date_time(NOW) + expires_in,
        }
    }

    #[tokio::test]
    async fn a_good_token_is_verified_once_and_known_scopes_are_kept() {
        let (fake, door) = door(Some(Ok(claims(time::Duration::minutes(5)))));
        for _ in 0..3 {
            let bearer = door.bearer("a.b.c").await.unwrap().unwrap();
            assert_eq!(bearer.organization_id, ORGANIZATION.parse().unwrap());
            assert_eq!(bearer.scopes, [Scope::SearchRead, Scope::FilesRead]);
        }
        assert_eq!(fake.asked.load(Ordering::SeqCst), 1);
        door.bearer("a.b.d").await.unwrap().unwrap();
        assert_eq!(fake.asked.load(Ordering::SeqCst), 2, "another token is another token");
    }

    #[tokio::test]
    async fn a_token_that_has_expired_is_the_verifiers_to_judge() {
        let (fake, door) = door(Some(Ok(claims(time::Duration::seconds(-1)))));
        assert!(door.bearer("a.b.c").await.unwrap().is_some(), "within the verifier's leeway");
        *fake.answer.lock().unwrap() = None;
        assert!(door.bearer("a.b.c").await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_verifier_that_cannot_tell_is_no_refusal_and_is_asked_again() {
        let (fake, door) = door(Some(Err(TokenFault::Unavailable("away".into()))));
        let error = door.bearer("a.b.c").await.err().unwrap();
        assert!(matches!(error, Error::Unavailable { backend: "token issuer", .. }));
        *fake.answer.lock().unwrap() = Some(Ok(claims(time::Duration::minutes(5))));
        assert!(door.bearer("a.b.c").await.unwrap().is_some());
    }

    #[tokio::test]
    async fn an_organization_must_be_named_by_its_id() {
        for organization in [None, Some(""), Some("acme")] {
            let claims =
                TokenClaims { organization: organization.map(str::to_owned), ..claims(time::Duration::minutes(5)) };
            assert!(door(Some(Ok(claims))).1.bearer("a.b.c").await.unwrap().is_none(), "{organization:?}");
        }
    }

    #[test]
    fn three_parts_look_like_a_token_and_no_key_does() {
        assert!(looks_like_token("a.b.c"));
        for other in ["", "a.b", "a.b.c.d", keys::generate().as_str()] {
            assert!(!looks_like_token(other), "{other}");
        }
    }
}
