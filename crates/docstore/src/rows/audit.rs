use diesel::prelude::*;

use crate::schema::audit_entries;
use crate::types::{Details, Id};

/// What was changed by hand, by whom. Written in the transaction of the change.
#[derive(Clone, Debug, Identifiable, Insertable, Queryable, Selectable)]
#[diesel(table_name = audit_entries, treat_none_as_default_value = false)]
pub struct AuditEntry {
    pub id: Id,
    pub created_at: i64,
    /// Who did it, such as `cli:alice@host`.
    pub actor: String,
    /// What was done, such as `key.created`.
    pub action: String,
    /// Whose it is. It may be gone by now.
    pub organization_id: Option<Id>,
    /// What was changed: an organization, a key, an entry of the ledger.
    pub subject_id: Option<Id>,
    /// What it was changed to. Never a secret.
    pub details: Details,
}

impl AuditEntry {
    /// An entry that says no more than who did what.
    pub fn new(id: Id, now: i64, actor: &str, action: &str) -> Self {
        Self {
            id,
            created_at: now,
            actor: actor.to_owned(),
            action: action.to_owned(),
            organization_id: None,
            subject_id: None,
            details: Details::default(),
        }
    }
}

/// Which entries are listed: those that meet all that is given.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    pub organization_id: Option<Id>,
    pub action: Option<String>,
    /// Of this time or later, in milliseconds since the Unix epoch.
    pub since: Option<i64>,
}
