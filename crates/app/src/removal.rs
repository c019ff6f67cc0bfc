//! Removal of the data of deleted organizations: in batches, and continued after a crash.

use std::sync::Arc;
use std::time::Duration;

use blobs::BlobStore;
use docstore::{Docstore, Organization};
use ingest::{Feeder, objects};
use model::{Clock, OrganizationId, Timestamp};

use crate::error::Result;
use crate::retention::in_batches;

/// Interval between looks for deleted organizations.
const INTERVAL: Duration = Duration::from_secs(5);
/// Time after a deletion during which requests from before it may still store something. A removal of the organization's data starts
/// after it, and the last one once no upload is in progress any more: each removal lists objects.
const LATE: Duration = Duration::from_hours(1);
/// Documents or rows of a table deleted per transaction.
const BATCH: i64 = 200;

/// Removes the data of deleted organizations. Safe to run on several instances at once.
pub(crate) async fn remove_deleted(
    store: Docstore,
    blobs: Arc<dyn BlobStore>,
    feeder: Option<Arc<Feeder>>,
    clock: Arc<dyn Clock>,
) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        match list_due(&store, clock.now()).await {
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "listing deleted organizations failed")
            }
            Ok(organizations) => {
                for organization in organizations {
                    let organization_id = organization.id;
                    match remove_organization(&store, blobs.as_ref(), clock.as_ref(), organization_id).await {
                        Ok(true) if organization.removed_at.is_none() => {
                            tracing::info!(%organization_id, "removed the data of a deleted organization");
                            feeder.iter().for_each(|feeder| feeder.wake());
                        }
                        Ok(_) => {}
                        Err(error) => {
                            let error = &error as &dyn std::error::Error;
                            tracing::warn!(%organization_id, error, "removing a deleted organization failed, retrying");
                        }
                    }
                }
            }
        }
    }
}

/// Lists deleted organizations whose data is to be removed, for the first time or since more may have been stored.
pub async fn list_due(store: &Docstore, now: Timestamp) -> Result<Vec<Organization>> {
    Ok(store.list_organizations_to_remove(LATE, objects::UPLOAD_GRACE, now).await?)
}

/// Removes objects, documents and rows of a deleted organization. Its documents are queued for removal from the index. What
/// an interrupted call removed stays removed. Returns false if data is left, which a request from before the deletion has stored
/// meanwhile: call it again.
pub async fn remove_organization(
    store: &Docstore,
    blobs: &dyn BlobStore,
    clock: &dyn Clock,
    organization_id: OrganizationId,
) -> Result<bool> {
    // The start counts: data that is stored during the removal may be left.
    let started_at = clock.now();
    let prefix = objects::prefix(organization_id);
    loop {
        // From the start each time: what was listed is gone.
        let page = blobs.list(&prefix, None).await?;
        if page.objects.is_empty() {
            break;
        }
        for object in page.objects {
            blobs.delete(&object.key).await?;
        }
    }
    in_batches(BATCH, || store.purge_workspace(organization_id, BATCH, clock.now())).await?;
    in_batches(1, || store.delete_tenant_rows(organization_id, BATCH)).await?;
    Ok(store.complete_removal(organization_id, started_at, objects::UPLOAD_GRACE).await?)
}
