//! Searches that were paid for and never answered, since their server died in between.

use std::sync::Arc;
use std::time::Duration;

use docstore::{Docstore, StoreError};
use model::{Clock, Timestamp};

const LOOK_EVERY: Duration = Duration::from_secs(5 * 60);
/// No search takes this long: what is not recorded by then never will be.
const LOST_AFTER: Duration = Duration::from_secs(10 * 60);
/// How far back is looked at the start. What a service lost that was down for longer is given back by hand.
const LOOK_BACK: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// And afterwards, so that every look is a short one: long enough for looks that fail in between.
const LOOK_BACK_AGAIN: Duration = Duration::from_secs(60 * 60);

/// Gives back what such searches cost, now and from time to time. Any number of instances may do so.
pub(crate) async fn refund_lost_searches(store: Docstore, clock: Arc<dyn Clock>) {
    let mut back = LOOK_BACK;
    loop {
        match look(&store, clock.now(), back).await {
            Ok(()) => back = LOOK_BACK_AGAIN,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "lost searches were not looked for");
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

async fn look(store: &Docstore, now: Timestamp, back: Duration) -> Result<(), StoreError> {
    let (from, before) = (now - back, now - LOST_AFTER);
    for organization in store.list_organizations().await?.into_iter().filter(|organization| organization.billed) {
        let unrecorded = store.find_unrecorded_searches(organization.id, from, before).await?;
        if unrecorded.is_empty() {
            continue;
        }
        let refunded = store.refund_searches(organization.id, unrecorded, from, now).await?;
        if refunded > 0 {
            metrics::counter!("retrieval_searches_refunded_total").increment(refunded as u64);
            tracing::warn!(organization_id = %organization.id, refunded, "searches without an answer were refunded");
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
        let organization = Organization { id, name: "test".to_owned(), billed: true, created_at: clock.now() };
        let entry =
            audit::entry("test", clock.now(), AuditAction::OrganizationCreated, Some(id), id.0, Default::default());
        store.create_organization(organization, None, entry).await.unwrap();
        accounts::post(&store, id, 100, BalanceReason::Prepaid, None, clock.now()).await.unwrap();
        let searcher = Identity::subject("https://issuer.example", "user-1");
        let search = Some((SearchId(Uuid::from_u128(2)), &searcher));
        let balance = accounts::post(&store, id, -3, BalanceReason::Search, search, clock.now()).await.unwrap();
        assert_eq!(balance, Some(97));
        clock.advance(LOST_AFTER);
        look(&store, clock.now(), LOOK_BACK).await.unwrap();
        assert_eq!(store.find_balance(id).await.unwrap(), Some(97), "it may still be under way");
        for _ in 0..2 {
            clock.advance(LOOK_EVERY);
            look(&store, clock.now(), LOOK_BACK).await.unwrap();
            assert_eq!(store.find_balance(id).await.unwrap(), Some(100));
        }
    }
}
