//! The audit log: what was changed of organizations, keys and balances by hand, and who did it.

use docstore::{AuditEntry, Details};
use model::{AuditAction, AuditEntryId, OrganizationId, Timestamp};
use uuid::Uuid;

/// `subject_id`: of what was changed. `details`: what it was changed to, and never a secret.
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
