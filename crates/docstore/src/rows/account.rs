use diesel::prelude::*;
use model::{ApiKeyId, BalanceEntryId, BalanceReason, OrganizationId, ResearchId, Scope, SearchId, Timestamp};

use super::StorageTotals;
use crate::arrays::array_row;
use crate::schema::{api_keys, balance_entries, organizations};
use crate::types::row;

row! {
    #[derive(Clone, Debug, Insertable, Queryable, Selectable)]
    #[diesel(table_name = organizations, treat_none_as_default_value = false)]
    pub struct Organization {
        pub id: OrganizationId,
        pub name: String,
        /// True if searches are charged to the balance.
        pub billed: bool,
        pub created_at: Timestamp,
        /// Time since which the organization is refused.
        pub deleted_at: Option<Timestamp>,
        /// Start of the last removal that left no data of the deleted organization.
        pub removed_at: Option<Timestamp>,
    }
}

/// Organization with the size of its data.
#[derive(Clone, Debug)]
pub struct OrganizationSize {
    pub organization: Organization,
    pub totals: StorageTotals,
    /// Documents of the workspace.
    pub documents: i64,
}

row! {
    #[derive(Clone, Debug, Insertable, Queryable, Selectable)]
    #[diesel(table_name = api_keys, treat_none_as_default_value = false)]
    pub struct ApiKey {
        pub id: ApiKeyId,
        pub organization_id: OrganizationId,
        pub name: String,
        /// First characters of the key, for display; too few to use it.
        pub prefix: String,
        /// SHA-256 of the whole key. The key itself is never stored.
        pub digest: Vec<u8>,
        pub scopes: Vec<Scope>,
        pub limit_rps: Option<i32>,
        pub created_at: Timestamp,
        pub expires_at: Option<Timestamp>,
        pub revoked_at: Option<Timestamp>,
        pub last_used_at: Option<Timestamp>,
    }
}

/// Outcome of creating a key on behalf of a credential.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum KeyCreation {
    Created,
    /// The organization has this number of valid keys already. Nothing changed.
    TooMany(i64),
    /// This number of the organization's keys was created in the last 24 hours, which reaches the limit. Nothing changed.
    TooManyLately(i64),
    /// The organization was deleted, or the creating key was revoked or has expired. Nothing changed.
    Refused,
}

row! {
    #[derive(Clone, Debug, Insertable, Queryable, Selectable)]
    #[diesel(table_name = balance_entries, treat_none_as_default_value = false)]
    pub struct BalanceEntry {
        pub id: BalanceEntryId,
        pub organization_id: OrganizationId,
        /// Positive for deposits and refunds, negative for spending.
        pub cents: i64,
        pub reason: BalanceReason,
        pub search_id: Option<SearchId>,
        pub created_at: Timestamp,
        /// Identity that was charged or refunded; `None` for deposits.
        pub identity: Option<String>,
        /// Research run that the search belongs to.
        pub research_id: Option<ResearchId>,
    }
}

impl BalanceEntry {
    /// Builds an entry that belongs to no search.
    pub fn new(
        id: BalanceEntryId,
        organization_id: OrganizationId,
        cents: i64,
        reason: BalanceReason,
        created_at: Timestamp,
    ) -> Self {
        Self { id, organization_id, cents, reason, search_id: None, created_at, identity: None, research_id: None }
    }
}

array_row!(BalanceEntry => balance_entries {
    id: id, organization_id: organization_id, cents: cents, reason: reason, search_id: search_id, created_at: created_at,
    identity: identity, research_id: research_id,
});
