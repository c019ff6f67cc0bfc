//! Authentication by API key or access token.

mod tokens;

pub(crate) use tokens::TokenAuthenticator;
pub use tokens::{TokenClaims, TokenVerifier, VerifyError};

use std::sync::Arc;
use std::time::Duration;

use docstore::{ApiKey, Organization};
use model::Timestamp;
use moka::future::Cache;

use crate::error::Result;
use crate::{App, Error, Identity, UseCase, Viewer, keys};

/// TTL of cached keys and organizations. A revoked key, or one of a deleted organization, must be rejected within 5 seconds
/// on every instance.
const CACHE_TTL: Duration = Duration::from_secs(3);
const CACHED_KEYS: u64 = 10_000;

/// Cache of key lookups by digest; `None` for unknown keys.
pub struct KeyCache(Cache<[u8; 32], Option<Arc<CachedKey>>>);

/// A valid key and the viewer that it authenticates.
struct CachedKey {
    viewer: Viewer,
    expires_at: Option<Timestamp>,
}

impl KeyCache {
    pub fn new() -> Self {
        Self(Cache::builder().max_capacity(CACHED_KEYS).time_to_live(CACHE_TTL).build())
    }

    /// Forgets a key, so that its next use reads the database.
    pub async fn forget(&self, digest: &[u8]) {
        if let Ok(digest) = digest.try_into() {
            let digest: [u8; 32] = digest;
            self.0.invalidate(&digest).await;
        }
    }
}

impl Default for KeyCache {
    fn default() -> Self {
        Self::new()
    }
}

impl App {
    /// Returns the viewer of an API key or access token; `None` if it is malformed, unknown, expired or revoked.
    ///
    /// # Errors
    /// `Unavailable` if an access token cannot be verified because the issuer's keys are unavailable.
    pub fn authenticate<'a>(&'a self, credential: &'a str) -> UseCase<'a, Option<Viewer>> {
        match &self.tokens {
            // API keys contain no dot, so they never reach the verifier.
            Some(tokens) if tokens::looks_like_token(credential) => {
                Box::pin(self.authenticate_token(tokens, credential))
            }
            _ => Box::pin(self.authenticate_key(credential)),
        }
    }

    /// Returns true if a credential is verified as an access token: without the database, unless its signature is valid.
    pub fn is_access_token(&self, credential: &str) -> bool {
        self.tokens.is_some() && tokens::looks_like_token(credential)
    }

    async fn authenticate_key(&self, key: &str) -> Result<Option<Viewer>> {
        if !keys::is_well_formed(key) {
            return Ok(None);
        }
        let digest = keys::digest(key);
        // Looking up the digest of a random key has no useful timing side channel.
        let cached = self.keys.0.try_get_with(digest, self.find_key(digest)).await.map_err(shared_error)?;
        let now = self.clock.now();
        Ok(cached.filter(|key| key.expires_at.is_none_or(|at| now < at)).map(|key| key.viewer.clone()))
    }

    async fn find_key(&self, digest: [u8; 32]) -> Result<Option<Arc<CachedKey>>> {
        let found = self.store.find_key_by_digest(digest.to_vec()).await?;
        Ok(found
            .filter(|(key, organization)| key.revoked_at.is_none() && organization.deleted_at.is_none())
            .map(|(key, organization)| Arc::new(self.cached_key(key, organization))))
    }

    fn cached_key(&self, key: ApiKey, organization: Organization) -> CachedKey {
        let limit = key.limit_rps.and_then(|limit| u32::try_from(limit).ok());
        CachedKey {
            viewer: Viewer {
                organization_id: organization.id,
                identity: Identity::ApiKey(key.id),
                scopes: key.scopes,
                limit_rps: limit.unwrap_or(self.options.default_rps),
                billed: organization.billed,
            },
            expires_at: key.expires_at,
        }
    }

    async fn authenticate_token(&self, tokens: &TokenAuthenticator, token: &str) -> Result<Option<Viewer>> {
        let Some(bearer) = tokens.bearer(token).await? else { return Ok(None) };
        let id = bearer.organization_id;
        let find = async {
            let found = self.store.find_organization(id).await?;
            Ok::<_, Error>(found.filter(|organization| organization.deleted_at.is_none()).map(Arc::new))
        };
        let organization = tokens.organizations.try_get_with(id, find).await.map_err(shared_error)?;
        Ok(organization.map(|organization| Viewer {
            organization_id: organization.id,
            identity: bearer.identity.clone(),
            scopes: bearer.scopes.clone(),
            limit_rps: self.options.default_rps,
            billed: organization.billed,
        }))
    }
}

/// Wraps the error of one lookup for each caller that waited for it, with all causes.
fn shared_error(error: Arc<Error>) -> Error {
    Error::internal(error)
}
