use std::fmt::Write;

use model::{ApiKeyId, OrganizationId, Scope};
use sha2::{Digest, Sha256};

/// Who is counted for rate limits and usage.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Identity {
    ApiKey(ApiKeyId),
    /// Who an access token speaks for, whichever of its tokens: see [`Identity::subject`].
    Subject([u8; 16]),
}

impl Identity {
    /// The subject of an issuer's access tokens: the first half of the SHA-256 of the issuer, a line feed and the
    /// subject. Subjects may be long, and people's names; two issuers may have the same.
    pub fn subject(issuer: &str, subject: &str) -> Self {
        let digest = Sha256::new().chain_update(issuer).chain_update("\n").chain_update(subject).finalize();
        let mut id = [0; 16];
        id.copy_from_slice(&digest[..16]);
        Identity::Subject(id)
    }

    /// A stable key for rate-limit counters, usage and the ledger.
    pub fn rate_key(&self) -> String {
        match self {
            Identity::ApiKey(id) => format!("key:{id}"),
            Identity::Subject(id) => id.iter().fold("sub:".to_owned(), |mut key, byte| {
                // Writing into a string does not fail.
                let _ = write!(key, "{byte:02x}");
                key
            }),
        }
    }
}

/// Who is asking. Every use case takes one, so that a read without an organization does not compile.
#[derive(Clone, Debug)]
pub struct Viewer {
    pub organization_id: OrganizationId,
    pub identity: Identity,
    pub scopes: Vec<Scope>,
    pub limit_rps: u32,
    /// Searches of a billed organization draw on its balance.
    pub billed: bool,
}

impl Viewer {
    pub fn may(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn the_key_of_a_subject_is_short_its_own_and_no_api_keys() {
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
            assert!(others[..n].iter().all(|earlier| earlier.rate_key() != other.rate_key()));
        }
    }
}
