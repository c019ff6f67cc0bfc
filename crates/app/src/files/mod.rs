//! Workspace files: uploads, listing, deletion and indexing runs.

pub(crate) mod quota;
mod store;

use std::collections::HashMap;

use blobs::PresignPut;
use docstore::{File, IndexRun, Withdrawal};
use file_types::FileKind;
use ingest::clock::{from_date_time, to_date_time};
use ingest::objects;
use model::{RunMode, RunState, RunStats, SyncId, Timestamp};
use retrieval_core::url;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::Result;
use crate::{App, Error, Viewer};

/// Rows per page of a listing.
const PAGE: i64 = 5_000;

#[derive(Clone, Debug)]
pub struct PresignRequest {
    pub filename: String,
    pub size: u64,
    pub content_type: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Presigned {
    pub name: String,
    pub url: String,
    pub expires_in_seconds: u64,
    pub max_object_bytes: u64,
}

/// A name with a row, ready for its object.
struct Registered {
    name: String,
    object_key: String,
    at: Timestamp,
}

/// A stored file and the run that indexes it.
#[derive(Clone, Debug)]
pub struct Stored {
    pub name: String,
    pub run: RunView,
}

#[derive(Clone, Debug)]
pub struct FileView {
    pub name: String,
    pub size: u64,
    pub last_modified: OffsetDateTime,
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
    /// `Invalid` if no usable name remains, `FileTooLarge`, `UnsupportedFileType`, `QuotaExceeded`.
    pub async fn presign_file(&self, viewer: &Viewer, request: PresignRequest) -> Result<Presigned> {
        let (size, max_object_bytes) = (request.size, self.options.max_object_bytes);
        let Registered { name, object_key, at } = self.register_name(viewer, request).await?;
        let lifetime = self.options.presign_lifetime;
        let nonce = Uuid::new_v4().simple().to_string();
        let put = PresignPut { key: &object_key, size, expires_in: lifetime, nonce: &nonce };
        let url = self.blobs.presign_put(&put, to_date_time(at))?;
        Ok(Presigned { name, url, expires_in_seconds: lifetime.as_secs(), max_object_bytes })
    }

    /// Creates the row of an upload under its sanitized name, which must exist before the object.
    async fn register_name(&self, viewer: &Viewer, request: PresignRequest) -> Result<Registered> {
        let name = file_types::sanitize(&request.filename)
            .ok_or_else(|| Error::invalid("filename", "`filename` has no usable characters"))?;
        check_type(&name)?;
        let max_object_bytes = self.options.max_object_bytes;
        if request.size > max_object_bytes {
            return Err(Error::FileTooLarge { size: request.size, max_object_bytes });
        }
        self.require_disk_space()?;
        let organization_id = viewer.organization_id;
        let object_key = objects::key(organization_id, &name);
        let at = self.clock.now();
        let file = File {
            object_key: object_key.clone(),
            organization_id,
            name: name.clone(),
            doc_id: url::document_id(&url::workspace_url(organization_id, &name)),
            content_type: request.content_type,
            created_at: at,
            processed_etag: None,
            processed_size: None,
            outcome: None,
            reason: None,
            last_run_id: None,
            withdrawn_at: None,
            bytes: i64::try_from(request.size).unwrap_or(i64::MAX),
            upload_expires_at: Some(at + self.options.presign_lifetime),
        };
        self.register_file(file).await?;
        Ok(Registered { name, object_key, at })
    }

    /// Returns the files in storage, sorted by name.
    pub async fn list_files(&self, viewer: &Viewer) -> Result<Vec<FileView>> {
        let organization_id = viewer.organization_id;
        let mut known: HashMap<String, File> = HashMap::new();
        let mut after = None;
        loop {
            let page = self.store.list_files(organization_id, after.take(), PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.object_key.clone());
            known.extend(page.into_iter().map(|file| (file.object_key.clone(), file)));
        }
        let mut files = Vec::with_capacity(known.len());
        if known.is_empty() {
            return Ok(files);
        }
        let prefix = objects::prefix(organization_id);
        let mut next: Option<String> = None;
        loop {
            let page = self.blobs.list(&prefix, next.as_deref()).await?;
            files.extend(page.objects.into_iter().filter_map(|object| {
                let file = known.remove(&object.key)?;
                let is_listed = !file.is_withdrawn(from_date_time(object.last_modified));
                is_listed.then_some(FileView {
                    name: file.name,
                    size: object.size,
                    last_modified: object.last_modified,
                })
            }));
            match page.next {
                Some(more) => next = Some(more),
                None => break,
            }
        }
        files.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(files)
    }

    /// Deletes a file. Its document is hidden at once, even if storage fails; one run then removes its rows. Returns false
    /// if neither a file nor a document has this name.
    pub async fn delete_file(&self, viewer: &Viewer, name: &str) -> Result<bool> {
        let organization_id = viewer.organization_id;
        let object_key = objects::key(organization_id, name);
        let run = self.queued_run(viewer, RunMode::Incremental);
        let withdrawn = self.store.withdraw_file(organization_id, object_key.clone(), run, self.clock.now()).await?;
        let Some(Withdrawal { hidden, queued, earlier }) = withdrawn else { return Ok(false) };
        if hidden && let Some(feeder) = &self.feeder {
            feeder.wake();
        }
        let object = self.blobs.head(&object_key).await?;
        if let Some(object) = &object {
            self.blobs.delete(&object_key).await?;
            let (bytes, uploaded_at) =
                (i64::try_from(object.size).unwrap_or(i64::MAX), from_date_time(object.last_modified));
            self.store.release_upload(organization_id, object_key.clone(), bytes, uploaded_at).await?;
        }
        // Start the run last: an earlier one could delete the object before `head` sees it.
        if queued {
            self.wake_runner();
        } else if let Some(object) = &object {
            // A repeated or concurrent request: the run of the first one completes the deletion.
            let uploaded_at = from_date_time(object.last_modified);
            let is_completed =
                earlier.is_some_and(|at| uploaded_at <= at) && self.store.has_unfinished_run(organization_id).await?;
            if !is_completed {
                self.queue_run(viewer, RunMode::Incremental).await?;
            }
        }
        Ok(object.is_some() || hidden)
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
