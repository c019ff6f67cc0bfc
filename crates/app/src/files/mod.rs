//! Workspace files: uploads, listing, downloads, deletion and indexing runs.

mod find;
pub mod labels;
mod list;
mod outcomes;
pub(crate) mod quota;
mod store;
mod view;

use blobs::{ObjectMeta, PresignPut};
use docstore::{File, IndexRun, ReplacedUpload, Strings, Withdrawal};
use file_types::{FileKind, MAX_NAME_CHARS};
use ingest::clock::{from_date_time, to_date_time};
use ingest::objects;
use model::{RunMode, RunState, RunStats, SyncId, Timestamp};
use retrieval_core::url;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::Result;
use crate::{App, Error, Viewer};
pub use find::Download;
pub use list::{FilesPage, FilesPart, PageRequest};
pub use outcomes::{OutcomeView, OutcomesPage};
pub use view::FileView;

#[derive(Clone, Debug)]
pub struct PresignRequest {
    pub filename: String,
    pub size: u64,
    pub content_type: Option<String>,
    /// Labels of the file; `None` keeps those that it has.
    pub labels: Option<Vec<String>>,
}

#[derive(Clone, Debug)]
pub struct Presigned {
    pub name: String,
    pub url: String,
    pub expires_in_seconds: u64,
    pub max_object_bytes: u64,
    /// Name, as sent, of an earlier file that this one replaces although it was sent under another name.
    pub replaces: Option<String>,
}

/// A name with a row, ready for its object.
struct Registered {
    name: String,
    object_key: String,
    at: Timestamp,
    replaces: Option<String>,
}

/// A stored file and the run that indexes it.
#[derive(Clone, Debug)]
pub struct Stored {
    pub name: String,
    pub run: RunView,
    /// As in [`Presigned::replaces`].
    pub replaces: Option<String>,
}

#[derive(Clone, Debug)]
pub struct RunView {
    pub sync_id: SyncId,
    pub state: RunState,
    pub started_at: Option<OffsetDateTime>,
    pub completed_at: Option<OffsetDateTime>,
    pub error: Option<String>,
    pub stats: RunStats,
}

impl From<IndexRun> for RunView {
    fn from(run: IndexRun) -> Self {
        RunView {
            sync_id: run.sync_id,
            state: run.state,
            started_at: run.started_at.map(to_date_time),
            completed_at: run.completed_at.map(to_date_time),
            stats: run.stats(),
            error: run.error,
        }
    }
}

impl App {
    /// Returns a URL for one upload of exactly the declared size, under the sanitized name.
    ///
    /// # Errors
    /// `Invalid` if the name is too long or no usable one remains, or if a label is invalid, `FileTooLarge`,
    /// `UnsupportedFileType`, `QuotaExceeded`.
    pub async fn presign_file(&self, viewer: &Viewer, request: PresignRequest) -> Result<Presigned> {
        let (size, max_object_bytes) = (request.size, self.options.max_object_bytes);
        let Registered { name, object_key, at, replaces } = self.register_name(viewer, request).await?;
        let lifetime = self.options.presign_lifetime;
        let nonce = Uuid::new_v4().simple().to_string();
        let put = PresignPut { key: &object_key, size, expires_in: lifetime, nonce: &nonce };
        let url = self.blobs.presign_put(&put, to_date_time(at))?;
        Ok(Presigned { name, url, expires_in_seconds: lifetime.as_secs(), max_object_bytes, replaces })
    }

    /// Returns scheme, host and port of the URLs that uploads go to; `None` while the store's credentials are unknown.
    pub fn upload_origin(&self) -> Option<String> {
        // A signed URL is a computation, and only it shows how the store is addressed.
        let put = PresignPut { key: "x", size: 0, expires_in: self.options.presign_lifetime, nonce: "" };
        let url = self.blobs.presign_put(&put, to_date_time(self.clock.now())).ok()?;
        let (scheme, rest) = url.split_once("://")?;
        let host = rest.split(['/', '?', '#']).next()?;
        Some(format!("{scheme}://{host}"))
    }

    /// Creates the row of an upload under its sanitized name, which must exist before the object.
    async fn register_name(&self, viewer: &Viewer, request: PresignRequest) -> Result<Registered> {
        // The row keeps the name as sent.
        if !(1..=MAX_NAME_CHARS).contains(&request.filename.chars().count()) {
            let message = format!("filename must have 1 to {MAX_NAME_CHARS} characters");
            return Err(Error::invalid("filename", message));
        }
        let name = file_types::sanitize(&request.filename)
            .ok_or_else(|| Error::invalid("filename", "`filename` has no usable characters"))?;
        check_type(&name)?;
        let labels = request.labels.map(|labels| labels::normalize("labels", labels)).transpose()?;
        let max_object_bytes = self.options.max_object_bytes;
        if request.size > max_object_bytes {
            return Err(Error::FileTooLarge { size: request.size, max_object_bytes });
        }
        self.require_disk_space()?;
        let organization_id = viewer.organization_id;
        let object_key = objects::key(organization_id, &name);
        let doc_id = url::document_id(&url::workspace_url(organization_id, &name));
        let at = self.clock.now();
        let file = File {
            content_type: request.content_type,
            bytes: i64::try_from(request.size).unwrap_or(i64::MAX),
            upload_expires_at: Some(at + self.options.presign_lifetime),
            labels: labels.map(Strings),
            original_name: Some(request.filename),
            ..File::registered(object_key.clone(), organization_id, name.clone(), doc_id, at)
        };
        let relabels = file.labels.is_some();
        let replaced = self.register_file(file).await?;
        if relabels && let Some(feeder) = &self.feeder {
            feeder.wake();
        }
        let replaces = self.replaced_name(&object_key, replaced, at).await?;
        Ok(Registered { name, object_key, at, replaces })
    }

    /// Returns the name of an earlier upload if its object exists or may still arrive.
    async fn replaced_name(
        &self,
        object_key: &str,
        replaced: Option<ReplacedUpload>,
        now: Timestamp,
    ) -> Result<Option<String>> {
        let Some(ReplacedUpload { original_name, upload_expires_at }) = replaced else { return Ok(None) };
        let is_file = upload_expires_at.is_some_and(|at| at > now) || self.blobs.head(object_key).await?.is_some();
        Ok(is_file.then_some(original_name))
    }

    /// Deletes a file. Its document is hidden at once, even if storage fails; one run then removes its rows. Returns false
    /// if neither a file nor a document has this name.
    pub async fn delete_file(&self, viewer: &Viewer, name: &str) -> Result<bool> {
        let organization_id = viewer.organization_id;
        let object_key = objects::key(organization_id, name);
        let run = self.queued_run(viewer, RunMode::Incremental);
        let now = self.clock.now();
        // Beside each other: a worker may delete the object right after the withdrawal, which an outage of storage must not delay.
        let (before, withdrawn) = futures_util::join!(
            self.blobs.head(&object_key),
            self.store.withdraw_file(organization_id, object_key.clone(), run, now)
        );
        let Some(Withdrawal { hidden, queued, earlier }) = withdrawn? else { return Ok(false) };
        if hidden && let Some(feeder) = &self.feeder {
            feeder.wake();
        }
        let before = before?;
        // Before the answer: an upload that follows it may have the same time, in whole seconds.
        let etag = before.as_ref().map(|object| object.etag.clone());
        self.store.record_deleted_object(organization_id, object_key.clone(), now, etag).await?;
        let object = self.blobs.head(&object_key).await?;
        if let Some(object) = &object {
            let uploaded_at = from_date_time(object.last_modified);
            // Of a repeated or concurrent request, the run of the first one completes the deletion.
            let is_completed = queued
                || (earlier.is_some_and(|at| uploaded_at <= at)
                    && self.store.has_unfinished_run(organization_id).await?);
            if !is_completed {
                // Before the object is deleted: the client may leave, and storage may fail.
                self.queue_run(viewer, RunMode::Incremental).await?;
            }
            let file = self.store.find_file(organization_id, object_key.clone()).await?;
            if file.is_some_and(|file| is_deleted(&file, before.as_ref(), object)) {
                // One attempt: between two, the owner may upload the file again. What fails here is left to the run.
                self.blobs.delete_once(&object_key).await?;
                let bytes = i64::try_from(object.size).unwrap_or(i64::MAX);
                self.store.release_upload(organization_id, object_key, bytes, uploaded_at).await?;
            }
        }
        // Start the queued run last: an earlier one could delete the object before `head` sees it.
        if queued {
            self.wake_runner();
        }
        Ok(before.is_some() || object.is_some() || hidden)
    }

    /// Queues a run, or returns the one that is already queued.
    ///
    /// # Errors
    /// `NoRetrieval` in a deployment without a search index, which has no runner. `QuotaExceeded` while the disk is almost
    /// full.
    pub async fn start_run(&self, viewer: &Viewer, mode: RunMode) -> Result<RunView> {
        if self.engine.is_none() {
            return Err(Error::NoRetrieval);
        }
        self.require_disk_space()?;
        self.queue_run(viewer, mode).await
    }

    async fn queue_run(&self, viewer: &Viewer, mode: RunMode) -> Result<RunView> {
        let run = self.store.request_run(self.queued_run(viewer, mode)).await?;
        self.wake_runner();
        Ok(run.into())
    }

    fn queued_run(&self, viewer: &Viewer, mode: RunMode) -> IndexRun {
        IndexRun::queued(SyncId(Uuid::new_v4()), viewer.organization_id, mode, self.clock.now())
    }

    fn wake_runner(&self) {
        if let Some(runner) = &self.runner {
            runner.wake();
        }
    }

    /// Returns the state of a run of the viewer's organization.
    ///
    /// # Errors
    /// `SyncNotFound` for a malformed or unknown id.
    pub async fn run_status(&self, viewer: &Viewer, sync_id: &str) -> Result<RunView> {
        let sync_id: SyncId = sync_id.parse().map_err(|_| Error::SyncNotFound)?;
        let run = self.store.find_run(viewer.organization_id, sync_id).await?;
        run.map(RunView::from).ok_or(Error::SyncNotFound)
    }
}

/// Returns true if the object is that of a file which was deleted, not a later upload. `before`: the object at the time of the deletion,
/// which tells them apart also if the clock of storage is ahead.
fn is_deleted(file: &File, before: Option<&ObjectMeta>, object: &ObjectMeta) -> bool {
    file.withdrawn_at.is_some() && (before == Some(object) || objects::is_withdrawn(file, object))
}

fn check_type(name: &str) -> Result<()> {
    if FileKind::from_name(name).is_some() {
        return Ok(());
    }
    let extension = match name.rsplit_once('.') {
        Some((_, extension)) => extension.to_owned(),
        None => String::new(),
    };
    Err(Error::UnsupportedFileType { extension, supported: FileKind::supported_extensions().join(", ") })
}
