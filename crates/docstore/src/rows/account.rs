use diesel::prelude::*;

use crate::schema::{api_keys, balance_entries, organizations};
use crate::types::Id;

#[derive(Clone, Debug, Identifiable, Insertable, Queryable, Selectable)]
#[diesel(table_name = organizations, treat_none_as_default_value = false)]
pub struct Organization {
    pub id: Id,
    pub name: String,
    /// Billed organizations pay for searches from their balance.
    pub billed: bool,
    pub created_at: i64,
}

#[derive(Clone, Debug, Identifiable, Insertable, Queryable, Selectable)]
#[diesel(table_name = api_keys, treat_none_as_default_value = false)]
pub struct ApiKey {
    pub id: Id,
    pub organization_id: Id,
    pub name: String,
    /// The first characters of the key, to recognize it by; never enough to use it.
    pub prefix: String,
    /// SHA-256 of the whole key: the key itself is stored nowhere.
    pub digest: Vec<u8>,
    /// Scope names with a space between.
    pub scopes: String,
    pub limit_rps: Option<i32>,
    pub created_at: i64,
    pub expires_at: Option<i64>,
    pub revoked_at: Option<i64>,
    pub last_used_at: Option<i64>,
}

#[derive(Clone, Debug, Identifiable, Insertable, Queryable, Selectable)]
#[diesel(table_name = balance_entries, treat_none_as_default_value = false)]
pub struct BalanceEntry {
    pub id: Id,
    pub organization_id: Id,
    /// Positive: paid in or refunded; negative: spent.
    pub cents: i64,
    pub reason: String,
    pub search_id: Option<Id>,
    pub created_at: i64,
    /// Who spent it; `None` for what was paid in.
    pub identity: Option<String>,
}
