//! Who is asking.

mod tokens;

pub(crate) use tokens::TokenDoor;
pub use tokens::{TokenClaims, TokenFault, TokenVerifier};

use std::sync::Arc;
use std::time::Duration;

use docstore::{ApiKey, Organization};
use model::Timestamp;
use moka::future::Cache;

use crate::error::{BoxError, Result};
use crate::{App, Error, Identity, Viewer, keys};

/// A revoked key, or one of an organization that is gone, must stop within 5 seconds on every instance.
const CACHED_FOR: Duration = Duration::from_secs(3);
const CACHED_KEYS: u64 = 10_000;

/// Keys that were looked up a moment ago, by digest; `None` for those that do not exist.
pub struct KeyCache(Cache<[u8; 32], Option<Arc<KnownKey>>>);

/// A key as it was found, with what its holder may do.
struct KnownKey {
    viewer: Viewer,
    expires_at: Option<Timestamp>,
}

impl KeyCache {
    pub fn new() -> Self {
        Self(Cache::builder().max_capacity(CACHED_KEYS).time_to_live(CACHED_FOR).build())
    }
}

impl Default for KeyCache {
    fn default() -> Self {
        Self::new()
    }
}

impl App {
    /// The viewer that this API key or access token stands for; `None` when it is malformed, unknown, expired or
    /// revoked.
    ///
    /// # Errors
    /// `Unavailable` when it is an access token that looks good, and the issuer's keys cannot be had.
    pub async fn authenticate(&self, credential: &str) -> Result<Option<Viewer>> {
        match &self.tokens {
            // No API key has a dot, so that none is ever shown to the verifier.
            Some(tokens) if tokens::looks_like_token(credential) => self.authenticate_token(tokens, credential).await,
            _ => self.authenticate_key(credential).await,
        }
    }

    async fn authenticate_key(&self, key: &str) -> Result<Option<Viewer>> {
        if !keys::is_well_formed(key) {
            return Ok(None);
        }
        let digest = keys::digest(key);
        // The look-up is by the digest of a random key: how long it takes tells nothing about other keys.
        let known = self.keys.0.try_get_with(digest, self.find_key(digest)).await.map_err(shared)?;
        let now = self.clock.now();
        Ok(known.filter(|key| key.expires_at.is_none_or(|at| now < at)).map(|key| key.viewer.clone()))
    }

    async fn find_key(&self, digest: [u8; 32]) -> Result<Option<Arc<KnownKey>>> {
        let found = self.store.find_key_by_digest(digest.to_vec()).await?;
        Ok(found
            .filter(|(key, _)| key.revoked_at.is_none())
            .map(|(key, organization)| Arc::new(self.known_key(key, organization))))
    }

    fn known_key(&self, key: ApiKey, organization: Organization) -> KnownKey {
        let limit = key.limit_rps.and_then(|limit| u32::try_from(limit).ok());
        KnownKey {
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

    async fn authenticate_token(&self, tokens: &TokenDoor, token: &str) -> Result<Option<Viewer>> {
        let Some(bearer) = tokens.bearer(token).await? else { return Ok(None) };
        let id = bearer.organization_id;
        let find = async { Ok::<_, Error>(self.store.find_organization(id).await?.map(Arc::new)) };
        let organization = tokens.organizations.try_get_with(id, find).await.map_err(shared)?;
        Ok(organization.map(|organization| Viewer {
            organization_id: organization.id,
            identity: bearer.identity.clone(),
            scopes: bearer.scopes.clone(),
            limit_rps: self.options.default_rps,
            billed: organization.billed,
        }))
    }
}

/// One look-up failed, and everybody who waited for it is told.
fn shared(error: Arc<Error>) -> Error {
    Error::Internal(BoxError::from(error.to_string()))
}
