//! Searches that were paid for and never answered, since their server died in between.

use std::time::Duration;

use docstore::{Docstore, StoreError};
use ingest::clock::now_ms;

const LOOK_EVERY: Duration = Duration::from_secs(5 * 60);
/// No search takes this long: what is not recorded by then never will be.
const LOST_AFTER: Duration = Duration::from_secs(10 * 60);
/// How far back is looked at the start. What a service lost that was down for longer is given back by hand.
const LOOK_BACK: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// And afterwards, so that every look is a short one: long enough for looks that fail in between.
const LOOK_BACK_AGAIN: Duration = Duration::from_secs(60 * 60);

/// Gives back what such searches cost, now and from time to time. Any number of instances may do so.
pub(crate) async fn refund_lost_searches(store: Docstore) {
    let mut back = LOOK_BACK;
    loop {
        match look(&store, back).await {
            Ok(()) => back = LOOK_BACK_AGAIN,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "lost searches were not looked for");
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

async fn look(store: &Docstore, back: Duration) -> Result<(), StoreError> {
    let now = now_ms();
    let (from, before) = (now - back.as_millis() as i64, now - LOST_AFTER.as_millis() as i64);
    for organization in store.list_organizations().await?.into_iter().filter(|organization| organization.billed) {
        let unrecorded = store.find_unrecorded_searches(organization.id.0, from, before).await?;
        if unrecorded.is_empty() {
            continue;
        }
        let refunded = store.refund_searches(organization.id.0, unrecorded, from, now).await?;
        if refunded > 0 {
            metrics::counter!("retrieval_searches_refunded_total").increment(refunded as u64);
            tracing::warn!(organization_id = %organization.id.0, refunded, "searches without an answer were refunded");
        }
    }
    Ok(())
}
