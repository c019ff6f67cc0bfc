//! Entries of the audit log: changes that operators make to organizations, keys and balances.

use docstore::{AuditEntry, Details};
use model::{AuditAction, AuditEntryId, OrganizationId, Timestamp};
use uuid::Uuid;

/// Builds an audit entry. `subject_id` is the id of the changed object; `details` are its new values, never secrets.
pub(crate) fn entry(
    actor: &str,
    now: Timestamp,
    action: AuditAction,
    organization_id: Option<OrganizationId>,
    subject_id: Uuid,
    details: Details,
) -> AuditEntry {
    AuditEntry {
        organization_id,
        subject_id: Some(subject_id),
        details,
        ..AuditEntry::new(AuditEntryId(Uuid::now_v7()), now, actor, action)
    }
}
