//! Refunds of searches that were charged and never answered because the server crashed.

use std::sync::Arc;
use std::time::Duration;

use docstore::{Docstore, StoreError};
use model::{Clock, Timestamp};

/// Interval between sweeps.
const INTERVAL: Duration = Duration::from_secs(5 * 60);
/// Age after which an unrecorded search counts as lost; no search takes this long.
const LOST_AFTER: Duration = Duration::from_secs(10 * 60);
/// Window of the first sweep. Losses from before a longer outage are refunded manually.
const FIRST_WINDOW: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Window of later sweeps: short, to keep sweeps cheap, and long enough to bridge failed ones.
const WINDOW: Duration = Duration::from_secs(60 * 60);

/// Refunds lost searches at start and then periodically. Safe to run on several instances at once.
///
/// `retention` is that of recorded searches: beyond it nothing tells an answered search from a lost one.
pub(crate) async fn refund_lost_searches(store: Docstore, clock: Arc<dyn Clock>, retention: Option<Duration>) {
    let longest = retention.map_or(Duration::MAX, |retention| retention / 2);
    let mut window = FIRST_WINDOW.min(longest);
    loop {
        match sweep(&store, clock.now(), window).await {
            Ok(()) => window = WINDOW.min(longest),
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "refunding lost searches failed, retrying at the next interval"
                );
            }
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Refunds searches charged within `window` that have no recorded answer after `LOST_AFTER`.
async fn sweep(store: &Docstore, now: Timestamp, window: Duration) -> Result<(), StoreError> {
    let (from, before) = (now - window, now - LOST_AFTER);
    for organization in store.list_organizations().await?.into_iter().filter(|organization| organization.billed) {
        let unrecorded = store.find_unrecorded_searches(organization.id, from, before).await?;
        if unrecorded.is_empty() {
            continue;
        }
        let refunded = store.refund_searches(organization.id, unrecorded, from, now).await?;
        if refunded > 0 {
            metrics::counter!("retrieval_searches_refunded_total").increment(refunded as u64);
            tracing::warn!(organization_id = %organization.id, refunded, "refunded searches that were never answered");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use docstore::{Location, Organization};
    use model::{AuditAction, BalanceReason, ManualClock, OrganizationId, SearchId};
    use uuid::Uuid;

    use super::*;
    use crate::{Identity, accounts, audit};

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn unanswered_search_is_refunded_after_ten_minutes() {
        let folder = tempfile::tempdir().unwrap();
        let store = Docstore::open(&Location::Sqlite(folder.path().join("test.db")), 1).unwrap();
        store.migrate().await.unwrap();
        let clock = ManualClock::starting_at(Timestamp::from_millis(1_790_000_000_000));
        let id = OrganizationId(Uuid::from_u128(1));
        let organization = Organization {
            id,
            name: "test".to_owned(),
            billed: true,
            created_at: clock.now(),
            deleted_at: None,
            removed_at: None,
        };
        let entry =
            audit::entry("test", clock.now(), AuditAction::OrganizationCreated, Some(id), id.0, Default::default());
        store.create_organization(organization, None, entry).await.unwrap();
        let prepaid = accounts::balance_entry(id, 100, BalanceReason::Prepaid, None, clock.now());
        store.post_balance_entry(prepaid).await.unwrap();
        let searcher = Identity::subject("https://issuer.example", "user-1");
        let search_id = SearchId(Uuid::from_u128(2));
        let search = Some(accounts::BilledSearch { search_id, research_id: None, identity: &searcher });
        let debit = accounts::balance_entry(id, -3, BalanceReason::Search, search, clock.now());
        assert_eq!(store.post_balance_entry(debit).await.unwrap(), Some(97));
        clock.advance(LOST_AFTER);
        sweep(&store, clock.now(), FIRST_WINDOW).await.unwrap();
        assert_eq!(store.find_balance(id).await.unwrap(), Some(97), "the search may still be running");
        for _ in 0..2 {
            clock.advance(INTERVAL);
            sweep(&store, clock.now(), FIRST_WINDOW).await.unwrap();
            assert_eq!(store.find_balance(id).await.unwrap(), Some(100));
        }
    }
}
