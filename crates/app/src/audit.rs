//! The audit log: what was changed of organizations, keys and balances by hand, and who did it.

use docstore::{AuditEntry, Details, Id};
use ingest::clock::now_ms;
use uuid::Uuid;

/// What an operator does that is told of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Action {
    OrganizationCreated,
    KeyCreated,
    KeyRevoked,
    BalanceAdded,
}

impl Action {
    pub const ALL: [Action; 4] =
        [Action::OrganizationCreated, Action::KeyCreated, Action::KeyRevoked, Action::BalanceAdded];

    /// As the log says it.
    pub fn as_str(self) -> &'static str {
        match self {
            Action::OrganizationCreated => "organization.created",
            Action::KeyCreated => "key.created",
            Action::KeyRevoked => "key.revoked",
            Action::BalanceAdded => "balance.added",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == name)
    }
}

/// `subject_id`: of what was changed. `details`: what it was changed to, and never a secret.
pub(crate) fn entry(
    actor: &str,
    action: Action,
    organization_id: Option<Uuid>,
    subject_id: Uuid,
    details: Details,
) -> AuditEntry {
    AuditEntry {
        organization_id: organization_id.map(Id),
        subject_id: Some(Id(subject_id)),
        details,
        ..AuditEntry::new(Id(Uuid::now_v7()), now_ms(), actor, action.as_str())
    }
}
