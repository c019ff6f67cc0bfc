//! Objects of an organization's files.

use blobs::ObjectMeta;
use docstore::File;
use model::OrganizationId;
use sha2::{Digest, Sha256};

use crate::clock::from_date_time;

/// Returns the prefix of all objects of an organization.
pub fn prefix(organization_id: OrganizationId) -> String {
    format!("files/{organization_id}/")
}

/// Returns the key of a file's object. It contains a digest of the name, since names may exceed the length of keys and use any
/// script.
pub fn key(organization_id: OrganizationId, name: &str) -> String {
    format!("{}{}", prefix(organization_id), hex::encode(Sha256::digest(name.as_bytes())))
}

/// Returns true if the object is the one that the owner of the file deleted, not a later upload.
pub fn is_withdrawn(file: &File, object: &ObjectMeta) -> bool {
    file.is_withdrawn(from_date_time(object.last_modified), &object.etag)
}
