//! Plan of a run: the difference between the storage listing and the docstore.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use blobs::{BlobStore, ObjectMeta};
use docstore::{Docstore, File, IndexRun};
use model::{DocId, RunMode, Timestamp};

use super::RunError;
use crate::clock::from_date_time;
use crate::objects;

/// Age at which names without an uploaded object are forgotten. Presigned URLs are valid for 15 minutes.
const UPLOAD_GRACE: Duration = Duration::from_hours(1);

/// Rows per page of a listing.
const PAGE: i64 = 5_000;

/// A file to read, with its object in storage.
#[derive(Clone, Debug)]
pub struct PlannedFile {
    pub file: File,
    pub object: ObjectMeta,
}

/// Work of a run.
#[derive(Debug, Default)]
pub struct Plan {
    /// Number of files in storage.
    pub enumerated: usize,
    /// Files to read, in key order.
    pub work: Vec<PlannedFile>,
    /// Keys of deleted files whose objects still exist.
    pub withdrawn: Vec<String>,
    /// Documents whose objects no longer exist.
    pub gone: Vec<DocId>,
    /// Keys of files that were presigned long ago and never uploaded.
    pub stale_names: Vec<String>,
}

/// Compares storage with the docstore.
pub async fn plan(store: &Docstore, blobs: &dyn BlobStore, run: &IndexRun, now: Timestamp) -> Result<Plan, RunError> {
    let organization_id = run.organization_id;
    let mut objects = list_objects(blobs, &objects::prefix(organization_id)).await?;
    let mut plan = Plan::default();
    let mut present: HashSet<DocId> = HashSet::with_capacity(objects.len());
    let mut after = None;
    loop {
        let page = store.list_files(organization_id, after.take(), PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.object_key.clone());
        for file in page {
            let Some(object) = objects.remove(&file.object_key) else {
                if file.created_at + UPLOAD_GRACE < now {
                    plan.stale_names.push(file.object_key);
                }
                continue;
            };
            if file.is_withdrawn(from_date_time(object.last_modified)) {
                plan.withdrawn.push(file.object_key);
                continue;
            }
            plan.enumerated += 1;
            present.insert(file.doc_id);
            if needs_reading(&file, &object, run) {
                plan.work.push(PlannedFile { file, object });
            }
        }
    }
    // The remaining objects were not uploaded through this service, so they have no file name.
    if !objects.is_empty() {
        tracing::warn!(%organization_id, objects = objects.len(), "storage contains objects without a file name");
    }
    let documents = store.list_workspace_documents(organization_id).await?;
    plan.gone = documents.into_iter().filter(|doc_id| !present.contains(doc_id)).collect();
    Ok(plan)
}

fn needs_reading(file: &File, object: &ObjectMeta, run: &IndexRun) -> bool {
    let same_object =
        file.processed_etag.as_deref() == Some(&object.etag) && file.processed_size == i64::try_from(object.size).ok();
    let done_in_this_run = file.last_run_id == Some(run.sync_id);
    match run.mode {
        RunMode::Incremental => !same_object,
        RunMode::Full => !(same_object && done_in_this_run),
    }
}

async fn list_objects(blobs: &dyn BlobStore, prefix: &str) -> Result<HashMap<String, ObjectMeta>, RunError> {
    let mut objects = HashMap::new();
    let mut after: Option<String> = None;
    loop {
        let page = blobs.list(prefix, after.as_deref()).await?;
        objects.extend(page.objects.into_iter().map(|object| (object.key.clone(), object)));
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(objects),
        }
    }
}
