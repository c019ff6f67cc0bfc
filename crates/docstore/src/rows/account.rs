use diesel::prelude::*;
use model::{ApiKeyId, BalanceEntryId, BalanceReason, OrganizationId, Scope, SearchId, Timestamp};

use crate::schema::{api_keys, balance_entries, organizations};
use crate::types::row;

row! {
    #[derive(Clone, Debug, Insertable, Queryable, Selectable)]
    #[diesel(table_name = organizations, treat_none_as_default_value = false)]
    pub struct Organization {
        pub id: OrganizationId,
        pub name: String,
        /// Billed organizations pay for searches from their balance.
        pub billed: bool,
        pub created_at: Timestamp,
    }
}

row! {
    #[derive(Clone, Debug, Insertable, Queryable, Selectable)]
    #[diesel(table_name = api_keys, treat_none_as_default_value = false)]
    pub struct ApiKey {
        pub id: ApiKeyId,
        pub organization_id: OrganizationId,
        pub name: String,
        /// The first characters of the key, to recognize it by; never enough to use it.
        pub prefix: String,
        /// SHA-256 of the whole key: the key itself is stored nowhere.
        pub digest: Vec<u8>,
        pub scopes: Vec<Scope>,
        pub limit_rps: Option<i32>,
        pub created_at: Timestamp,
        pub expires_at: Option<Timestamp>,
        pub revoked_at: Option<Timestamp>,
        pub last_used_at: Option<Timestamp>,
    }
}

row! {
    #[derive(Clone, Debug, Insertable, Queryable, Selectable)]
    #[diesel(table_name = balance_entries, treat_none_as_default_value = false)]
    pub struct BalanceEntry {
        pub id: BalanceEntryId,
        pub organization_id: OrganizationId,
        /// Positive: paid in or refunded; negative: spent.
        pub cents: i64,
        pub reason: BalanceReason,
        pub search_id: Option<SearchId>,
        pub created_at: Timestamp,
        /// Who spent it; `None` for what was paid in.
        pub identity: Option<String>,
    }
}
