use docstore::{BalanceEntry, Id, Search, Strings};
use ingest::clock::now_ms;
use uuid::Uuid;

use crate::{Tenant, TestApp};

const MINUTE: i64 = 60_000;

impl TestApp {
    /// Debits a search of `minutes` ago that was never recorded, as a crashed server leaves it.
    pub async fn lose_search(&self, tenant: &Tenant, cents: u32, minutes: i64) {
        self.debit(tenant, Uuid::now_v7(), cents, minutes).await;
    }

    /// Debits and records a search of `minutes` ago.
    pub async fn answer_search(&self, tenant: &Tenant, cents: u32, minutes: i64) {
        let search_id = Uuid::now_v7();
        self.debit(tenant, search_id, cents, minutes).await;
        let row = Search {
            search_id: Id(search_id),
            organization_id: Id(tenant.organization_id),
            identity: tenant.viewer.identity.rate_key(),
            session_id: Id(Uuid::new_v4()),
            query: String::new(),
            results: Strings(Vec::new()),
            created_at: now_ms(),
        };
        self.store.record_searches(vec![row], Vec::new()).await.unwrap();
    }

    async fn debit(&self, tenant: &Tenant, search_id: Uuid, cents: u32, minutes: i64) {
        let entry = BalanceEntry {
            id: Id(Uuid::now_v7()),
            organization_id: Id(tenant.organization_id),
            cents: -i64::from(cents),
            reason: "search".to_owned(),
            search_id: Some(Id(search_id)),
            created_at: now_ms() - minutes * MINUTE,
            identity: Some(tenant.viewer.identity.rate_key()),
        };
        self.store.post_balance_entry(entry).await.unwrap().unwrap();
    }
}
