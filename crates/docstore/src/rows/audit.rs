use diesel::prelude::*;
use model::{AuditAction, AuditEntryId, OrganizationId, Timestamp};
use uuid::Uuid;

use crate::schema::audit_entries;
use crate::types::{Details, row};

row! {
    /// Record of an administrative change, written in the transaction of the change.
    #[derive(Clone, Debug, Insertable, Queryable, Selectable)]
    #[diesel(table_name = audit_entries, treat_none_as_default_value = false)]
    pub struct AuditEntry {
        pub id: AuditEntryId,
        pub created_at: Timestamp,
        /// Person or program that made the change, such as `cli:alice@host`.
        pub actor: String,
        pub action: AuditAction,
        /// Organization that the subject belongs to. It may have been deleted since.
        pub organization_id: Option<OrganizationId>,
        /// Changed object: an organization, an API key, a ledger entry, a webhook, a crawl or a page.
        pub subject_id: Option<Uuid>,
        /// New values. Never contains secrets.
        pub details: Details,
    }
}

impl AuditEntry {
    /// Returns an entry without organization, subject and details.
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

/// Conditions on listed entries. All given ones must hold.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    pub organization_id: Option<OrganizationId>,
    pub action: Option<AuditAction>,
    /// Earliest creation time, inclusive.
    pub since: Option<Timestamp>,
}
