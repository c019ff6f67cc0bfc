use docstore::{FeedbackExport, IndexRun, Search};
use model::{BalanceReason, Timestamp};

use crate::{Tenant, TestApp};

/// More rows than a test makes.
const ALL: i64 = 1_000;

impl TestApp {
    /// Route and status of each recorded request of the organization, in the order of their times.
    pub async fn recorded_requests(&self, tenant: &Tenant) -> Vec<(String, i32)> {
        self.app.close().await;
        let events = self
            .store
            .list_usage_events(tenant.organization_id, Timestamp::MIN, Timestamp::MAX, i64::MAX)
            .await
            .unwrap();
        events.into_iter().map(|event| (event.route, event.status)).collect()
    }

    /// Reason and cents of each entry of the organization's ledger, oldest first.
    pub async fn ledger(&self, tenant: &Tenant) -> Vec<(BalanceReason, i64)> {
        let entries = self.store.list_balance_entries(tenant.organization_id, None, ALL).await.unwrap();
        entries.into_iter().map(|entry| (entry.reason, entry.cents)).collect()
    }

    /// Feedback of all organizations, oldest first.
    pub async fn recorded_feedback(&self) -> Vec<FeedbackExport> {
        self.store.export_feedback(None, ALL).await.unwrap()
    }

    /// The recorded search with this id.
    pub async fn recorded_search(&self, tenant: &Tenant, search_id: &str) -> Search {
        let search_id = search_id.parse().unwrap();
        self.store.find_search(tenant.organization_id, search_id).await.unwrap().unwrap()
    }

    /// The run with this id.
    pub async fn recorded_run(&self, tenant: &Tenant, sync_id: &str) -> IndexRun {
        let sync_id = sync_id.parse().unwrap();
        self.store.find_run(tenant.organization_id, sync_id).await.unwrap().unwrap()
    }
}
