//! Searches that were paid for and never answered, since their server died in between.

use std::time::Duration;

use docstore::{Docstore, StoreError};
use ingest::clock::now_ms;

const LOOK_EVERY: Duration = Duration::from_secs(5 * 60);
/// No search takes this long: what is not recorded by then never will be.
const LOST_AFTER: Duration = Duration::from_secs(10 * 60);
/// How far back is looked, so that every look is a short one. A service that was down for longer gives back by hand.
const LOOK_BACK: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Gives back what such searches cost, now and from time to time. Any number of instances may do so.
pub(crate) async fn refund_lost_searches(store: Docstore) {
    loop {
        if let Err(error) = look(&store).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "lost searches were not looked for");
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

async fn look(store: &Docstore) -> Result<(), StoreError> {
    let now = now_ms();
    let (from, before) = (now - LOOK_BACK.as_millis() as i64, now - LOST_AFTER.as_millis() as i64);
    for organization in store.list_organizations().await?.into_iter().filter(|organization| organization.billed) {
        let refunded = store.refund_unrecorded_searches(organization.id.0, from, before, now).await?;
        if refunded > 0 {
            metrics::counter!("retrieval_searches_refunded_total").increment(refunded as u64);
            tracing::warn!(organization_id = %organization.id.0, refunded, "searches without an answer were refunded");
        }
    }
    Ok(())
}
