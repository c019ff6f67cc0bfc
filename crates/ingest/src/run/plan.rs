//! Plan of a run: the difference between the storage listing and the docstore, both in pages of key order. A plan keeps one id per
//! file; the files themselves are listed once more while they are processed.

use std::collections::HashSet;

use blobs::{BlobStore, ObjectMeta};
use docstore::{Docstore, File, IndexRun};
use model::{DocId, OrganizationId, RunMode, Timestamp};

use super::RunError;
use crate::objects;

/// Files per page.
const PAGE: usize = 1_000;

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
    /// Documents of the files to read.
    pub work: HashSet<DocId>,
    /// Keys of deleted files whose objects still exist.
    pub withdrawn: Vec<String>,
    /// Documents whose objects no longer exist.
    pub gone: Vec<DocId>,
    /// Keys of files that were presigned before `stale_before` and never uploaded, or that their owner deleted.
    pub stale_names: Vec<String>,
    pub stale_before: Timestamp,
    /// Keys of files whose objects are not what was measured.
    pub mismeasured: Vec<String>,
}

/// Compares storage with the docstore.
pub async fn plan(store: &Docstore, blobs: &dyn BlobStore, run: &IndexRun, now: Timestamp) -> Result<Plan, RunError> {
    let organization_id = run.organization_id;
    let mut plan = Plan { stale_before: now - objects::UPLOAD_GRACE, ..Plan::default() };
    let mut present: HashSet<DocId> = HashSet::new();
    let (mut unknown, mut lost, mut after) = (0, 0_usize, None);
    loop {
        let page = list(store, blobs, organization_id, after).await?;
        unknown += page.unknown;
        for (file, object) in page.files {
            let Some(object) = object else {
                if !is_only_a_name(&file) {
                    lost += 1;
                } else if file.created_at < plan.stale_before {
                    plan.stale_names.push(file.object_key);
                }
                continue;
            };
            if objects::is_withdrawn(&file, &object) {
                plan.withdrawn.push(file.object_key);
                continue;
            }
            plan.enumerated += 1;
            if is_mismeasured(&file, &object) {
                plan.mismeasured.push(file.object_key.clone());
            }
            present.insert(file.doc_id);
            if needs_reading(&file, &object, run) {
                plan.work.insert(file.doc_id);
            }
        }
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    if unknown > 0 {
        tracing::warn!(%organization_id, objects = unknown, "storage contains objects without a file name");
    }
    if lost > 0 {
        tracing::warn!(
            %organization_id,
            files = lost,
            "storage lacks the objects of files that were read before: is it the right store? Their names are kept"
        );
    }
    let documents = store.list_workspace_documents(organization_id).await?;
    plan.gone = documents.into_iter().filter(|doc_id| !present.contains(doc_id)).collect();
    Ok(plan)
}

/// A page of planned files, and the key after which the next page begins.
pub struct WorkPage {
    pub files: Vec<PlannedFile>,
    pub next: Option<String>,
}

/// Lists the files of the plan that still exist, after the given key.
pub async fn work_page(
    store: &Docstore,
    blobs: &dyn BlobStore,
    organization_id: OrganizationId,
    work: &HashSet<DocId>,
    after: Option<String>,
) -> Result<WorkPage, RunError> {
    let page = list(store, blobs, organization_id, after).await?;
    let planned = page.files.into_iter().filter(|(file, _)| work.contains(&file.doc_id));
    let files = planned.filter_map(|(file, object)| Some(PlannedFile { file, object: object? }));
    // A file that was deleted since then is removed by the run that its deletion queued.
    let is_kept = |planned: &PlannedFile| !objects::is_withdrawn(&planned.file, &planned.object);
    Ok(WorkPage { files: files.filter(is_kept).collect(), next: page.next })
}

/// Returns true if no run has read an upload of the file, or its owner deleted it. The row of any other file is the only record of its
/// name, since keys are digests: it is kept even if the object is gone, as it is in a store of another installation.
fn is_only_a_name(file: &File) -> bool {
    file.last_run_id.is_none() || file.withdrawn_at.is_some()
}

/// Returns true if the file counts another size than that of its object, or is deleted although the object is later, and nothing
/// will measure it: its upload began before the URL expired, and ended after the measurement.
fn is_mismeasured(file: &File, object: &ObjectMeta) -> bool {
    let is_counted = file.withdrawn_at.is_none() && Some(file.bytes) == i64::try_from(object.size).ok();
    file.upload_expires_at.is_none() && !is_counted
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

/// Files with their objects.
struct Listing {
    files: Vec<(File, Option<ObjectMeta>)>,
    /// Number of objects that were not uploaded through this service, so they have no file name.
    unknown: usize,
    next: Option<String>,
}

async fn list(
    store: &Docstore,
    blobs: &dyn BlobStore,
    organization_id: OrganizationId,
    after: Option<String>,
) -> Result<Listing, RunError> {
    let limit = i64::try_from(PAGE).unwrap_or(i64::MAX);
    let files = store.list_files(organization_id, after.clone(), limit).await?;
    let next = files.last().filter(|_| files.len() == PAGE).map(|file| file.object_key.clone());
    let mut objects = objects::list(blobs, organization_id, after, next.as_deref()).await?;
    let files = files
        .into_iter()
        .map(|file| {
            let object = objects.remove(&file.object_key);
            (file, object)
        })
        .collect();
    Ok(Listing { files, unknown: objects.len(), next })
}
