//! Processing of one file: fetch, extract, prepare.

use std::error::Error;
use std::io;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use admission::{Permit, Stop};
use blobs::{BlobError, BlobErrorKind, ObjectMeta};
use docstore::{FileChanges, FileContent, FileResult, NewDocument, strip_nul};
use extract::{ExtractErrorKind, ExtractRequest};
use extract_worker::{Compartment, Input, Lane, Turn, WorkError};
use file_types::FileKind;
use futures_util::FutureExt;
use model::{Collection, FileOutcome, OrganizationId, RunStats, SyncId, Timestamp};
use uuid::Uuid;

use super::plan::PlannedFile;
use super::refusals::Refusals;
use super::{RunError, Runner};
use crate::clock::from_date_time;
use crate::prepare;
use crate::supervisor::report_panic;

/// Maximum size of an object that is read into memory; larger ones go through a temporary file.
const MAX_IN_MEMORY: u64 = 1 << 20;

/// Processing of the files of one run. Cheap to clone.
#[derive(Clone)]
pub struct FileProcessor {
    pub runner: Arc<Runner>,
    pub organization_id: OrganizationId,
    pub sync_id: SyncId,
}

/// Outcome of processing a file.
pub enum Processed {
    /// The result, with the memory that it takes until it is recorded.
    Done(Box<FileResult>, Permit),
    /// The file takes long and others wait: it is processed again after them.
    Postponed,
}

impl FileProcessor {
    /// Processes one file. An unreadable file is a result, not an error, and so is one that causes a panic.
    ///
    /// # Errors
    /// Failures of storage or of the temporary directory; no extraction worker.
    pub async fn process(&self, planned: PlannedFile) -> Result<Processed, RunError> {
        let permit = self.runner.shares.bytes(self.organization_id, planned.object.size).await;
        self.process_in(Lane::Runs, &planned, permit).await
    }

    /// Processes a file that was postponed.
    ///
    /// # Errors
    /// As [`process`](Self::process).
    pub async fn process_postponed(&self, planned: PlannedFile) -> Result<Processed, RunError> {
        let permit = self.runner.shares.postponed(self.organization_id).await;
        self.process_in(Lane::PostponedRuns, &planned, permit).await
    }

    /// Processes a failure of storage: if it responds, an object that it does not deliver is a result.
    ///
    /// # Errors
    /// The failure, if it is an outage or may pass.
    pub async fn storage_failed(
        &self,
        planned: &PlannedFile,
        error: BlobError,
        refusals: &Refusals,
    ) -> Result<Processed, RunError> {
        let responds = self.runner.blobs.ping().await.is_ok();
        if !refusals.is_of_object(error.kind, responds) {
            return Err(error.into());
        }
        Ok(self.done(self.unreadable(planned, &error)).await)
    }

    async fn process_in(&self, lane: Lane, planned: &PlannedFile, permit: Permit) -> Result<Processed, RunError> {
        let reading = AssertUnwindSafe(self.read(lane, planned)).catch_unwind().await.unwrap_or_else(|panic| {
            report_panic("runner", panic.as_ref());
            Ok(Some(self.failed(planned, 1, "crashed", "an internal error")))
        });
        // Of the input, whose place the text takes.
        drop(permit);
        let Some(result) = reading? else { return Ok(Processed::Postponed) };
        Ok(self.done(result).await)
    }

    async fn done(&self, result: FileResult) -> Processed {
        let permit = self.runner.shares.bytes(self.organization_id, result_bytes(&result)).await;
        Processed::Done(Box::new(result), permit)
    }

    /// Returns `None` if other files come first.
    async fn read(&self, lane: Lane, planned: &PlannedFile) -> Result<Option<FileResult>, RunError> {
        let PlannedFile { file, object } = planned;
        let Some(kind) = FileKind::from_name(&file.name) else {
            return Ok(Some(self.skipped(planned, "unsupported file type")));
        };
        let temp_file = TempFile(self.runner.options.temp_dir.join(format!("{}.part", Uuid::new_v4())));
        // Taken before the object is read, so that a deletion meanwhile counts as newer.
        let read_at = self.runner.clock().now();
        let fetched = self.fetch(&file.object_key, object.size, &temp_file.0).await;
        let (meta, input) = match fetched {
            Ok(Some(fetched)) => fetched,
            Ok(None) => return Ok(Some(self.vanished(planned))),
            Err(RunError::Storage(error)) if error.kind == BlobErrorKind::TooLarge => {
                return Ok(Some(self.failed(planned, 0, "too_large", "the file is larger than the limit")));
            }
            Err(RunError::Storage(error)) if error.kind == BlobErrorKind::Corrupt => {
                return Ok(Some(self.corrupt(planned, &error)));
            }
            Err(error) => return Err(error),
        };
        let request = ExtractRequest::new(kind, file.name.clone());
        let turn = Turn {
            organization_id: self.organization_id,
            lane,
            compartment: Compartment::new(self.organization_id.to_string()),
            time_limit: None,
        };
        let extracted = self.runner.extractor.extract(&turn, request, input).await;
        drop(temp_file);
        // The object may have been replaced since planning; record the version that was read. Downloads may state whole seconds.
        let last_modified = meta.last_modified.max(object.last_modified);
        let planned = PlannedFile { file: file.clone(), object: ObjectMeta { last_modified, ..meta } };
        Ok(match extracted {
            Ok(extracted) => Some(self.prepare(planned, kind, extracted, read_at).await),
            Err(WorkError::Document(error)) if error.kind == ExtractErrorKind::Unsupported => {
                Some(self.skipped(&planned, &error.message))
            }
            Err(WorkError::Document(error)) => Some(self.failed(&planned, 1, error.kind.as_str(), &error.message)),
            // The second attempt.
            Err(WorkError::Overloaded { .. }) if lane == Lane::PostponedRuns => Some(self.starved(&planned)),
            Err(WorkError::Postponed | WorkError::Overloaded { .. }) => None,
            Err(error @ WorkError::Unavailable(_)) => return Err(RunError::Extraction(error)),
        })
    }

    async fn prepare(
        &self,
        planned: PlannedFile,
        kind: FileKind,
        extracted: extract::Extracted,
        read_at: Timestamp,
    ) -> FileResult {
        let (files, indexed) = (self.clone(), planned.clone());
        let preparing = move |_: &Stop| files.indexed(&indexed, kind, extracted, read_at);
        match self.runner.options.compute.run(self.organization_id, preparing).await {
            Ok(result) => result,
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "preparing a file for storage failed");
                self.failed(&planned, 1, "crashed", "an internal error")
            }
        }
    }

    async fn fetch(&self, key: &str, size: u64, temp_path: &Path) -> Result<Option<(ObjectMeta, Input)>, RunError> {
        if size > self.runner.options.max_object_bytes {
            return Err(BlobError::new(BlobErrorKind::TooLarge, "the object is too large").into());
        }
        if size <= MAX_IN_MEMORY {
            let fetched = self.runner.blobs.get(key, self.runner.options.max_object_bytes).await?;
            return Ok(fetched.map(|(meta, bytes)| (meta, Input::Bytes(bytes))));
        }
        let fetched = self.runner.blobs.get_to_file(key, temp_path, self.runner.options.max_object_bytes).await;
        let meta = fetched.map_err(download_failed)?;
        Ok(meta.map(|meta| (meta, Input::File(temp_path.to_owned()))))
    }

    fn indexed(
        &self,
        planned: &PlannedFile,
        kind: FileKind,
        extracted: extract::Extracted,
        read_at: Timestamp,
    ) -> FileResult {
        let PlannedFile { file, object } = planned;
        let canonical_url = retrieval_core::url::workspace_url(self.organization_id, &file.name);
        let source = prepare::Source {
            collection: Collection::Workspace(self.organization_id),
            source_url: canonical_url.clone(),
            canonical_url,
            source_uri: Some(self.runner.blobs.uri(&file.object_key)),
            mime: Some(kind.media_type().to_owned()),
            country: None,
            listed: true,
        };
        let mut content = prepare::Content::from(extracted);
        content.title.get_or_insert_with(|| prepare::stem(&file.name).to_owned());
        content.labels.insert(0, format!("kind:{}", kind.as_str()));
        let document = prepare::document(source, content, read_at);
        let counts = RunStats { fetched: 1, indexed: 1, bytes: object.size, ..RunStats::default() };
        FileResult {
            content: FileContent::Replace(Box::new(document)),
            ..self.result(planned, FileOutcome::Indexed, None, counts)
        }
    }

    fn failed(&self, planned: &PlannedFile, fetched: u64, reason: &str, message: &str) -> FileResult {
        tracing::info!(sync_id = %self.sync_id, object_key = planned.file.object_key, reason, detail = message, "indexing a file failed");
        let counts = RunStats {
            fetched,
            failed: 1,
            bytes: if fetched > 0 { planned.object.size } else { 0 },
            ..RunStats::default()
        };
        self.result(planned, FileOutcome::Failed, Some(format!("{reason}: {message}")), counts)
    }

    /// Returns the result for an object that storage has damaged: the stored text stays, and the next run tries again.
    fn corrupt(&self, planned: &PlannedFile, error: &BlobError) -> FileResult {
        let object_key = &planned.file.object_key;
        tracing::error!(object_key, error = error as &dyn std::error::Error, "object storage has damaged a file");
        to_be_retried(self.failed(planned, 0, "corrupt_object", "object storage returned damaged content"))
    }

    /// Returns the result for an object that storage does not deliver: the stored text stays, and the next run tries again.
    fn unreadable(&self, planned: &PlannedFile, error: &BlobError) -> FileResult {
        let object_key = &planned.file.object_key;
        tracing::error!(object_key, error = error as &dyn Error, "object storage does not return a file");
        to_be_retried(self.failed(planned, 0, "unreadable_object", "object storage did not return the file"))
    }

    /// Returns the result for a file whose worker got too little of the cores: the stored text stays, and the next run tries
    /// again.
    fn starved(&self, planned: &PlannedFile) -> FileResult {
        to_be_retried(self.failed(planned, 1, "timed_out", "the server was busy, and the next run tries again"))
    }

    fn skipped(&self, planned: &PlannedFile, message: &str) -> FileResult {
        let counts = RunStats { skipped_unsupported: 1, ..RunStats::default() };
        self.result(planned, FileOutcome::SkippedUnsupported, Some(format!("unsupported_type: {message}")), counts)
    }

    /// Returns the result for an object deleted since planning: its document is deleted too.
    fn vanished(&self, planned: &PlannedFile) -> FileResult {
        let counts = RunStats { deleted: 1, ..RunStats::default() };
        let mut result = self.result(planned, FileOutcome::Failed, None, counts);
        result.changes.processed_etag = None;
        result.changes.processed_size = None;
        result.changes.outcome = None;
        result
    }

    fn result(
        &self,
        planned: &PlannedFile,
        outcome: FileOutcome,
        reason: Option<String>,
        counts: RunStats,
    ) -> FileResult {
        FileResult {
            object_key: planned.file.object_key.clone(),
            doc_id: planned.file.doc_id,
            uploaded_at: from_date_time(planned.object.last_modified),
            changes: FileChanges {
                processed_etag: Some(planned.object.etag.clone()),
                processed_size: i64::try_from(planned.object.size).ok(),
                outcome: Some(outcome),
                // It may quote the file.
                reason: reason.map(strip_nul),
                last_run_id: Some(self.sync_id),
            },
            content: FileContent::Remove,
            counts,
        }
    }
}

/// Tells failures of this machine's disk from those of storage, which are `Unavailable` if they interrupt a download.
fn download_failed(error: BlobError) -> RunError {
    let causes = error_causes::causes(&error).filter_map(|cause| cause.downcast_ref().map(io::Error::kind));
    let causes: Vec<io::ErrorKind> = causes.collect();
    let is_full = |cause: &io::ErrorKind| matches!(cause, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
    if causes.iter().any(is_full) {
        RunError::DiskFull(error)
    } else if error.kind == BlobErrorKind::Failed && !causes.is_empty() {
        RunError::Disk(error)
    } else {
        error.into()
    }
}

/// Makes a failure one that says nothing about the file.
fn to_be_retried(mut result: FileResult) -> FileResult {
    result.changes.processed_etag = None;
    result.changes.processed_size = None;
    result.content = FileContent::Keep;
    result
}

/// Temporary file, removed on drop. It need not exist: small files are read into memory.
struct TempFile(PathBuf);

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Returns the approximate memory of a result.
pub fn result_bytes(result: &FileResult) -> u64 {
    match &result.content {
        FileContent::Replace(document) => document_bytes(document) as u64,
        FileContent::Remove | FileContent::Keep => 0,
    }
}

fn document_bytes(document: &NewDocument) -> usize {
    let passages = document.passages.len() * std::mem::size_of::<docstore::Passage>();
    // Of a long text the capture has the first part only.
    let parts = document.parts.as_ref().map_or(0, |parts| {
        let terms: usize = parts.terms.iter().map(Vec::len).sum();
        parts.content.len() + terms
    });
    let headings: usize =
        document.capture.headings.0.iter().map(|heading| heading.len() + std::mem::size_of::<String>()).sum();
    document.capture.content.len() + passages + headings + parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(markdown: String) -> NewDocument {
        let url = "https://example.com/a".to_owned();
        let source = prepare::Source {
            collection: Collection::Web,
            canonical_url: url.clone(),
            source_url: url,
            source_uri: None,
            mime: None,
            country: None,
            listed: true,
        };
        let content = prepare::Content { markdown, ..prepare::Content::default() };
        prepare::document(source, content, Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn long_text_counts_whole() {
        let short = document("walrus".to_owned());
        assert!(short.parts.is_none() && document_bytes(&short) >= "walrus".len());
        let text = "The walrus and the carpenter were walking close at hand.\n\n".repeat(10_000);
        let length = text.len();
        let long = document(text);
        assert!(long.capture.content.len() < length / 2, "it is divided");
        assert!(document_bytes(&long) > length, "{}", document_bytes(&long));
    }

    #[test]
    fn headings_are_limited_and_count() {
        let mut listed = document("# a\n".repeat(20_000));
        assert_eq!(listed.capture.headings.0.len(), 1_000);
        let whole = document_bytes(&listed);
        listed.capture.headings.0.clear();
        assert!(whole >= document_bytes(&listed) + 1_000 * "a".len());
        let long = document(format!("# {}\n\nText.\n\n", "é".repeat(250)).repeat(2_000));
        let bytes: usize = long.capture.headings.0.iter().map(String::len).sum();
        assert!((60_000..=64 << 10).contains(&bytes), "{bytes}");
    }
}
