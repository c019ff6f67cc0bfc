//! Objects of an organization's files.

use std::collections::HashMap;
use std::time::Duration;

use blobs::{BlobError, BlobStore, ObjectMeta};
use docstore::File;
use model::OrganizationId;
use sha2::{Digest, Sha256};

use crate::clock::from_date_time;

/// Time after which no upload to a presigned URL is in progress any more. The URL limits its start only: 100 MiB at 4 KiB/s, the least
/// speed that the embedded store accepts, take seven hours.
pub const UPLOAD_GRACE: Duration = Duration::from_hours(24);

/// Returns the prefix of all objects of an organization.
pub fn prefix(organization_id: OrganizationId) -> String {
    format!("files/{organization_id}/")
}

/// Returns the key of a file's object. It contains a digest of the name, since names may exceed the length of keys and use any
/// script.
pub fn key(organization_id: OrganizationId, name: &str) -> String {
    format!("{}{}", prefix(organization_id), hex::encode(Sha256::digest(name.as_bytes())))
}

/// Lists the objects of an organization after one key, up to another or to the end, by key.
pub async fn list(
    blobs: &dyn BlobStore,
    organization_id: OrganizationId,
    mut after: Option<String>,
    last: Option<&str>,
) -> Result<HashMap<String, ObjectMeta>, BlobError> {
    let prefix = prefix(organization_id);
    let mut objects = HashMap::new();
    loop {
        let page = blobs.list(&prefix, after.as_deref()).await?;
        let wanted = page.objects.into_iter().filter(|object| last.is_none_or(|last| object.key.as_str() <= last));
        objects.extend(wanted.map(|object| (object.key.clone(), object)));
        match page.next.filter(|next| last.is_none_or(|last| next.as_str() < last)) {
            Some(next) => after = Some(next),
            None => return Ok(objects),
        }
    }
}

/// Returns true if the object is the one that the owner of the file deleted, not a later upload.
pub fn is_withdrawn(file: &File, object: &ObjectMeta) -> bool {
    file.is_withdrawn(from_date_time(object.last_modified), &object.etag)
}
