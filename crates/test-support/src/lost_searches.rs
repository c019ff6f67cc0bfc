use std::time::Duration;

use docstore::{BalanceEntry, Search};
use model::{BalanceEntryId, BalanceReason, Clock, SearchId, SessionId};
use uuid::Uuid;

use crate::{Tenant, TestApp};

impl TestApp {
    /// Debits a search of `minutes` ago that was never recorded, as a crashed server leaves it.
    pub async fn lose_search(&self, tenant: &Tenant, cents: u32, minutes: u64) {
        self.debit(tenant, SearchId(Uuid::now_v7()), cents, minutes).await;
    }

    /// Debits and records a search of `minutes` ago.
    pub async fn answer_search(&self, tenant: &Tenant, cents: u32, minutes: u64) {
        let search_id = SearchId(Uuid::now_v7());
        self.debit(tenant, search_id, cents, minutes).await;
        let row = Search {
            search_id,
            organization_id: tenant.organization_id,
            identity: tenant.viewer.identity.rate_key(),
            session_id: SessionId(Uuid::new_v4()),
            query: String::new(),
            results: Vec::new(),
            created_at: self.clock.now(),
            request: None,
            details: None,
        };
        self.store.record_searches(vec![row], Vec::new()).await.unwrap();
    }

    async fn debit(&self, tenant: &Tenant, search_id: SearchId, cents: u32, minutes: u64) {
        let entry = BalanceEntry {
            search_id: Some(search_id),
            identity: Some(tenant.viewer.identity.rate_key()),
            ..BalanceEntry::new(
                BalanceEntryId(Uuid::now_v7()),
                tenant.organization_id,
                -i64::from(cents),
                BalanceReason::Search,
                self.clock.now() - Duration::from_mins(minutes),
            )
        };
        self.store.post_balance_entry(entry).await.unwrap().unwrap();
    }
}
