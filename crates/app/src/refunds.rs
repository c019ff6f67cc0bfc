//! Counted refunds of searches, and those of searches that were charged and never answered because the server crashed.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use docstore::{Docstore, StoreError};
use model::{Clock, OrganizationId, SearchId, Timestamp};

/// Interval between sweeps.
const INTERVAL: Duration = Duration::from_secs(5 * 60);
/// Age after which an unrecorded search counts as lost; no search takes this long.
const LOST_AFTER: Duration = Duration::from_secs(10 * 60);
/// Longest window, and that of the first sweep. Losses from before a longer outage are refunded manually.
const LONGEST_WINDOW: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Window of a sweep before the last one that succeeded: that one did not see what was lost shortly before it.
const OVERLAP: Duration = Duration::from_secs(60 * 60);
/// Part of a window that one query reads.
const STEP: Duration = Duration::from_secs(60 * 60);
/// Searches refunded per transaction, which holds the balance of the organization.
const BATCH: usize = 100;

/// Refunds what the organization has paid for these searches and was not refunded yet. Returns the number of refunds, which it counts.
///
/// # Errors
/// Those of the database; then nothing is refunded.
pub async fn refund_searches(
    store: &Docstore,
    organization_id: OrganizationId,
    search_ids: Vec<SearchId>,
    now: Timestamp,
) -> Result<usize, StoreError> {
    let refunded = store.refund_searches(organization_id, search_ids, now).await?;
    metrics::counter!("retrieval_searches_refunded_total").increment(refunded as u64);
    Ok(refunded)
}

/// Refunds lost searches at start and then periodically. Safe to run on several instances at once.
///
/// `retention` is that of recorded searches: beyond it nothing tells an answered search from a lost one.
pub(crate) async fn refund_lost_searches(store: Docstore, clock: Arc<dyn Clock>, retention: Option<Duration>) {
    let longest = retention.map_or(LONGEST_WINDOW, |retention| LONGEST_WINDOW.min(retention / 2));
    let mut successes = Successes::default();
    loop {
        if let Err(error) = sweep(&store, clock.now(), longest, &mut successes).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "refunding lost searches failed, retrying at the next interval"
            );
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Times of the last sweeps that succeeded, by organization.
type Successes = HashMap<OrganizationId, Timestamp>;

/// Returns the window of a sweep: back to the last one that succeeded and `OVERLAP` before it, at most `longest`.
fn window(last_success: Option<Timestamp>, now: Timestamp, longest: Duration) -> Duration {
    last_success.map_or(longest, |at| now.since(at).saturating_add(OVERLAP).min(longest))
}

/// Refunds searches charged since the last success, within `longest`, that have no recorded answer after `LOST_AFTER`. An error does not
/// keep the organizations after it from their refunds, nor others from a short window at the next sweep.
async fn sweep(
    store: &Docstore,
    now: Timestamp,
    longest: Duration,
    successes: &mut Successes,
) -> Result<(), StoreError> {
    let mut outcome = Ok(());
    let mut organizations = store.list_organizations().await?;
    // A deleted organization has no recorded searches any more, so that all would count as lost.
    organizations.retain(|organization| organization.billed && organization.deleted_at.is_none());
    let mut swept = Successes::with_capacity(organizations.len());
    for organization in organizations {
        let last_success = successes.get(&organization.id).copied();
        let window = window(last_success, now, longest);
        let swept_at = match sweep_organization(store, organization.id, now, window).await {
            Ok(()) => Some(now),
            Err(error) => {
                outcome = outcome.and(Err(error));
                last_success
            }
        };
        swept.extend(swept_at.map(|at| (organization.id, at)));
    }
    *successes = swept;
    outcome
}

async fn sweep_organization(
    store: &Docstore,
    organization_id: OrganizationId,
    now: Timestamp,
    window: Duration,
) -> Result<(), StoreError> {
    let (mut from, end) = (now - window, now - LOST_AFTER);
    while from < end {
        let to = end.min(from + STEP);
        refund_lost(store, organization_id, from, to, now).await?;
        from = to;
    }
    Ok(())
}

/// Refunds lost searches that were charged in `[from, to)`.
async fn refund_lost(
    store: &Docstore,
    organization_id: OrganizationId,
    from: Timestamp,
    to: Timestamp,
    now: Timestamp,
) -> Result<(), StoreError> {
    let unrecorded = store.find_unrecorded_searches(organization_id, from, to).await?;
    for lost in unrecorded.chunks(BATCH) {
        let refunded = refund_searches(store, organization_id, lost.to_vec(), now).await?;
        if refunded > 0 {
            tracing::warn!(%organization_id, refunded, "refunded searches that were never answered");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use docstore::{Location, Organization, Search};
    use model::{AuditAction, BalanceReason, ManualClock};
    use uuid::Uuid;

    use super::*;
    use crate::{Identity, accounts, audit};

    const ORGANIZATION: OrganizationId = OrganizationId(Uuid::from_u128(1));
    const SEARCH: SearchId = SearchId(Uuid::from_u128(2));

    /// Opens a store in the folder with an organization that paid 3 of 100 cents for a search.
    async fn store_with_debit(folder: &std::path::Path, clock: &ManualClock) -> Docstore {
        let store = Docstore::open(&Location::Sqlite(folder.join("test.db")), 1).unwrap();
        store.migrate().await.unwrap();
        let id = ORGANIZATION;
        let organization = Organization {
            id,
            name: "test".to_owned(),
            billed: true,
            created_at: clock.now(),
            deleted_at: None,
            removed_at: None,
        };
        let entry = audit::subject_entry(
            "test",
            clock.now(),
            AuditAction::OrganizationCreated,
            Some(id),
            id.0,
            Default::default(),
        );
        store.create_organization(organization, None, entry).await.unwrap();
        let prepaid = accounts::balance_entry(id, 100, BalanceReason::Prepaid, None, clock.now());
        store.post_balance_entry(prepaid).await.unwrap();
        let searcher = Identity::subject("https://issuer.example", "user-1");
        let search = Some(accounts::BilledSearch { search_id: SEARCH, research_id: None, identity: &searcher });
        let debit = accounts::balance_entry(id, -3, BalanceReason::Search, search, clock.now());
        assert_eq!(store.post_balance_entry(debit).await.unwrap(), Some(97));
        store
    }

    fn clock() -> ManualClock {
        ManualClock::starting_at(Timestamp::from_millis(1_790_000_000_000))
    }

    #[test]
    fn window_covers_the_time_since_the_last_success() {
        let hours = |hours: u64| Duration::from_secs(hours * 60 * 60);
        let (longest, at) = (hours(24), clock().now());
        for (last_success, now, expected) in [
            (None, at, longest),
            (Some(at), at + INTERVAL, INTERVAL + OVERLAP),
            (Some(at), at + hours(3), hours(3) + OVERLAP),
            (Some(at), at + hours(24), longest),
            // The clock was set back.
            (Some(at), at - hours(3), OVERLAP),
        ] {
            assert_eq!(window(last_success, now, longest), expected);
        }
        assert_eq!(window(Some(at), at, hours(0)), hours(0), "records are kept for a short time only");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn unanswered_search_is_refunded_after_ten_minutes() {
        let (folder, clock) = (tempfile::tempdir().unwrap(), clock());
        let store = store_with_debit(folder.path(), &clock).await;
        clock.advance(LOST_AFTER);
        sweep(&store, clock.now(), LONGEST_WINDOW, &mut Successes::default()).await.unwrap();
        assert_eq!(store.find_balance(ORGANIZATION).await.unwrap(), Some(97), "the search may still be running");
        for _ in 0..2 {
            clock.advance(INTERVAL);
            sweep(&store, clock.now(), LONGEST_WINDOW, &mut Successes::default()).await.unwrap();
            assert_eq!(store.find_balance(ORGANIZATION).await.unwrap(), Some(100));
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn first_sweep_refunds_searches_of_the_longest_window_only() {
        for (age, balance) in [(LONGEST_WINDOW, 100), (LONGEST_WINDOW + Duration::from_millis(1), 97)] {
            let (folder, clock) = (tempfile::tempdir().unwrap(), clock());
            let store = store_with_debit(folder.path(), &clock).await;
            clock.advance(age);
            let mut successes = Successes::default();
            sweep(&store, clock.now(), LONGEST_WINDOW, &mut successes).await.unwrap();
            assert_eq!(store.find_balance(ORGANIZATION).await.unwrap(), Some(balance));
            assert_eq!(successes, Successes::from([(ORGANIZATION, clock.now())]));
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn sweep_begins_at_the_last_success_of_the_organization() {
        let another = OrganizationId(Uuid::from_u128(7));
        for (succeeded, balance) in [(another, 100), (ORGANIZATION, 97)] {
            let (folder, clock) = (tempfile::tempdir().unwrap(), clock());
            let store = store_with_debit(folder.path(), &clock).await;
            clock.advance(OVERLAP + INTERVAL);
            let mut successes = Successes::from([(succeeded, clock.now() - Duration::from_secs(1))]);
            sweep(&store, clock.now(), LONGEST_WINDOW, &mut successes).await.unwrap();
            assert_eq!(store.find_balance(ORGANIZATION).await.unwrap(), Some(balance), "{succeeded}");
            assert_eq!(successes, Successes::from([(ORGANIZATION, clock.now())]), "others are forgotten");
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn answered_search_of_a_deleted_organization_stays_paid() {
        let (folder, clock) = (tempfile::tempdir().unwrap(), clock());
        let store = store_with_debit(folder.path(), &clock).await;
        let answered = Search {
            search_id: SEARCH,
            organization_id: ORGANIZATION,
            identity: String::new(),
            session_id: Uuid::nil().into(),
            query: String::new(),
            results: Vec::new(),
            created_at: clock.now(),
            request: None,
            details: None,
        };
        store.record_searches(vec![answered], Vec::new()).await.unwrap();
        accounts::delete_organization(&store, "test", clock.now(), ORGANIZATION).await.unwrap();
        while store.delete_tenant_rows(ORGANIZATION, 10).await.unwrap() > 0 {}
        store.complete_removal(ORGANIZATION, clock.now(), LOST_AFTER).await.unwrap();
        assert!(store.find_search(ORGANIZATION, SEARCH).await.unwrap().is_none());
        clock.advance(LOST_AFTER + INTERVAL);
        sweep(&store, clock.now(), LONGEST_WINDOW, &mut Successes::default()).await.unwrap();
        assert_eq!(store.find_balance(ORGANIZATION).await.unwrap(), Some(97));
    }
}
