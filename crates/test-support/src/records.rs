use std::collections::BTreeMap;

use docstore::{DAY, FeedbackExport, IndexRun, RollupPosition, Search};
use model::{BalanceReason, Timestamp};

use crate::{Tenant, TestApp};

/// More rows than a test makes.
const ALL: i64 = 1_000;

impl TestApp {
    /// Route and status of each stored request of the organization, which are the admitted ones, in the order of their times.
    pub async fn recorded_requests(&self, tenant: &Tenant) -> Vec<(String, i32)> {
        self.app.close().await;
        let events = self
            .store
            .list_usage_events(tenant.organization_id, Timestamp::MIN, Timestamp::MAX, i64::MAX)
            .await
            .unwrap();
        events.into_iter().map(|event| (event.route, event.status)).collect()
    }

    /// Requests and client errors by route, refused ones included.
    pub async fn counted_requests(&self, tenant: &Tenant) -> BTreeMap<String, (i64, i64)> {
        self.app.close().await;
        let (id, first) = (tenant.organization_id, RollupPosition::before(Timestamp::MIN));
        let days = self.store.list_usage_rollups(id, DAY, first, Timestamp::MAX, ALL).await.unwrap();
        let mut counts: BTreeMap<String, (i64, i64)> = BTreeMap::new();
        for day in days {
            let (requests, errors) = counts.entry(day.route).or_default();
            *requests += day.requests;
            *errors += day.client_errors;
        }
        counts
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
