use diesel::prelude::*;
use model::{AuditAction, AuditEntryId, OrganizationId, Timestamp};
use uuid::Uuid;

use crate::schema::audit_entries;
use crate::types::{Details, row};

row! {
    /// What was changed by hand, by whom. Written in the transaction of the change.
    #[derive(Clone, Debug, Insertable, Queryable, Selectable)]
    #[diesel(table_name = audit_entries, treat_none_as_default_value = false)]
    pub struct AuditEntry {
        pub id: AuditEntryId,
        pub created_at: Timestamp,
        /// Who did it, such as `cli:alice@host`.
        pub actor: String,
        pub action: AuditAction,
        /// Whose it is. It may be gone by now.
        pub organization_id: Option<OrganizationId>,
        /// What was changed: an organization, a key, an entry of the ledger.
        pub subject_id: Option<Uuid>,
        /// What it was changed to. Never a secret.
        pub details: Details,
    }
}

impl AuditEntry {
    /// An entry that says no more than who did what.
    pub fn new(id: AuditEntryId, now: Timestamp, actor: &str, action: AuditAction) -> Self {
        Self {
            id,
            created_at: now,
            actor: actor.to_owned(),
            action,
            organization_id: None,
            subject_id: None,
            details: Details::default(),
        }
    }
}

/// Which entries are listed: those that meet all that is given.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    pub organization_id: Option<OrganizationId>,
    pub action: Option<AuditAction>,
    /// Of this time or later.
    pub since: Option<Timestamp>,
}
