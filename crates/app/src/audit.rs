//! Entries of the audit log: changes of organizations, keys and balances by operators, of keys and webhooks by their
//! organization, and of the shared web index.

use docstore::{AuditEntry, Details};
use model::{AuditAction, AuditEntryId, OrganizationId, Timestamp};
use uuid::Uuid;

use crate::Viewer;

/// Returns the actor of changes through the API: the key or the subject of the request.
pub(crate) fn actor(viewer: &Viewer) -> String {
    format!("api:{}", viewer.identity.rate_key())
}

/// Builds an entry about one object, such as a key. `subject_id` is its id; `details` are its new values, never secrets.
pub(crate) fn subject_entry(
    actor: &str,
    now: Timestamp,
    action: AuditAction,
    organization_id: Option<OrganizationId>,
    subject_id: Uuid,
    details: Details,
) -> AuditEntry {
    AuditEntry { organization_id, subject_id: Some(subject_id), ..web_index_entry(actor, now, action, details) }
}

/// Builds an entry about the shared web index, without organization and subject.
pub(crate) fn web_index_entry(actor: &str, now: Timestamp, action: AuditAction, details: Details) -> AuditEntry {
    AuditEntry { details, ..AuditEntry::new(AuditEntryId(Uuid::now_v7()), now, actor, action) }
}
