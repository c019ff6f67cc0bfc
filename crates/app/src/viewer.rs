//! Authenticated callers.

use std::fmt::Write;

use model::{ApiKeyId, OrganizationId, Scope};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// Identity that rate limits and usage are counted by.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Identity {
    ApiKey(ApiKeyId),
    /// Subject of an issuer, shared by all of its access tokens; see [`Identity::subject`].
    Subject([u8; 16]),
}

impl Identity {
    /// Returns the identity of an issuer's subject: the first half of the SHA-256 of the issuer, a line feed and the
    /// subject. It is hashed because subjects may be long or personal names, and two issuers may use the same one.
    pub fn subject(issuer: &str, subject: &str) -> Self {
        let digest = Sha256::new().chain_update(issuer).chain_update("\n").chain_update(subject).finalize();
        let mut id = [0; 16];
        id.copy_from_slice(&digest[..16]);
        Identity::Subject(id)
    }

    /// Reads a key of [`Identity::rate_key`].
    pub fn from_rate_key(key: &str) -> Option<Self> {
        if let Some(id) = key.strip_prefix("key:") {
            return Some(Identity::ApiKey(id.parse().ok()?));
        }
        let id: Uuid = key.strip_prefix("sub:")?.parse().ok()?;
        Some(Identity::Subject(id.into_bytes()))
    }

    /// Returns the stable key for rate-limit counters, usage and the ledger.
    pub fn rate_key(&self) -> String {
        match self {
            Identity::ApiKey(id) => format!("key:{id}"),
            Identity::Subject(id) => id.iter().fold("sub:".to_owned(), |mut key, byte| {
                // Writing to a string cannot fail.
                let _ = write!(key, "{byte:02x}");
                key
            }),
        }
    }
}

/// Authenticated caller. Every use case takes one, so that a read without an organization does not compile.
#[derive(Clone, Debug)]
pub struct Viewer {
    pub organization_id: OrganizationId,
    pub identity: Identity,
    pub scopes: Vec<Scope>,
    pub limit_rps: u32,
    /// Searches are charged to the organization's balance.
    pub billed: bool,
}

impl Viewer {
    /// Returns true if the scope is granted.
    pub fn may(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subject_keys_are_short_and_unique() {
        // printf 'https://issuer.example\nuser-1' | sha256sum | cut -c1-32
        let key = Identity::subject("https://issuer.example", "user-1").rate_key();
        assert_eq!(key, "sub:5d3cf9c77607e71545632b014970cf35");
        let id = ApiKeyId(Uuid::from_u128(7));
        let others = [
            Identity::ApiKey(id),
            Identity::subject("https://other.example", "user-1"),
            Identity::subject("https://issuer.example", "user-2"),
            Identity::subject("https://issuer.example", &Identity::ApiKey(id).rate_key()),
            Identity::subject("https://issuer.example", &"x".repeat(8_000)),
        ];
        for (n, other) in others.iter().enumerate() {
            assert!(other.rate_key().len() <= 40);
            assert_ne!(other.rate_key(), key);
            assert_eq!(Identity::from_rate_key(&other.rate_key()).as_ref(), Some(other));
            assert!(others[..n].iter().all(|earlier| earlier.rate_key() != other.rate_key()));
        }
    }
}
