//! Where an organization's files are in the bucket.

use model::OrganizationId;
use sha2::{Digest, Sha256};

/// All objects of one organization.
pub fn prefix(organization_id: OrganizationId) -> String {
    format!("files/{organization_id}/")
}

/// The object of one file. Keys hold a digest, not the name: a name may be longer than a key, and be in any script.
pub fn key(organization_id: OrganizationId, name: &str) -> String {
    format!("{}{}", prefix(organization_id), hex::encode(Sha256::digest(name.as_bytes())))
}
