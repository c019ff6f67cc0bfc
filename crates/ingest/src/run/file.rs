//! Processing of one file: fetch, extract, prepare.

use std::panic::AssertUnwindSafe;
use std::path::Path;

use blobs::{BlobError, BlobErrorKind, BlobStore};
use docstore::{FileChanges, FileContent, FileResult};
use extract::{ExtractErrorKind, ExtractRequest};
use extract_worker::{Compartment, Extractor, Input};
use file_types::FileKind;
use futures_util::FutureExt;
use model::{Clock, Collection, FileOutcome, OrganizationId, RunStats, SyncId, Timestamp};
use uuid::Uuid;

use super::RunError;
use super::plan::PlannedFile;
use crate::prepare;
use crate::supervisor::report_panic;

/// Maximum size of an object that is read into memory; larger ones go through a temporary file.
const MAX_IN_MEMORY: u64 = 1 << 20;

/// Dependencies and limits for the files of one run.
pub struct FileProcessor<'a> {
    pub blobs: &'a dyn BlobStore,
    pub extractor: &'a dyn Extractor,
    pub temp_dir: &'a Path,
    pub max_object_bytes: u64,
    pub organization_id: OrganizationId,
    pub sync_id: SyncId,
    pub clock: &'a dyn Clock,
}

impl FileProcessor<'_> {
    /// Processes one file. An unreadable file is a result, not an error, and so is one that causes a panic.
    ///
    /// # Errors
    /// Failures of storage or of the temporary directory.
    pub async fn process(&self, planned: PlannedFile) -> Result<FileResult, RunError> {
        AssertUnwindSafe(self.read(&planned)).catch_unwind().await.unwrap_or_else(|panic| {
            report_panic("runner", panic.as_ref());
            Ok(self.failed(&planned, 1, "crashed", "an internal error"))
        })
    }

    async fn read(&self, planned: &PlannedFile) -> Result<FileResult, RunError> {
        let PlannedFile { file, object } = planned;
        let Some(kind) = FileKind::from_name(&file.name) else {
            return Ok(self.skipped(planned, "unsupported file type"));
        };
        let temp_path = self.temp_dir.join(format!("{}.part", Uuid::new_v4()));
        // Taken before the object is read, so that a deletion meanwhile counts as newer.
        let read_at = self.clock.now();
        let fetched = self.fetch(&file.object_key, object.size, &temp_path).await;
        let (meta, input) = match fetched {
            Ok(Some(fetched)) => fetched,
            Ok(None) => return Ok(self.vanished(planned)),
            Err(RunError::Storage(error)) if error.kind == BlobErrorKind::TooLarge => {
                return Ok(self.failed(planned, 0, "too_large", "the file is larger than the limit"));
            }
            Err(RunError::Storage(error)) if error.kind == BlobErrorKind::Corrupt => {
                return Ok(self.corrupt(planned, &error));
            }
            Err(error) => return Err(error),
        };
        let request = ExtractRequest::new(kind, file.name.clone());
        let compartment = Compartment::new(self.organization_id.to_string());
        let extracted = self.extractor.extract(&compartment, request, input).await;
        // Does not exist for files that were read into memory.
        let _ = tokio::fs::remove_file(&temp_path).await;
        // The object may have been replaced since planning; record the version that was read.
        let planned = PlannedFile { file: file.clone(), object: meta };
        match extracted {
            Ok(extracted) => Ok(self.indexed(&planned, kind, extracted, read_at).await),
            Err(error) if error.kind == ExtractErrorKind::Unsupported => Ok(self.skipped(&planned, &error.message)),
            Err(error) => Ok(self.failed(&planned, 1, error.kind.as_str(), &error.message)),
        }
    }

    async fn fetch(
        &self,
        key: &str,
        size: u64,
        temp_path: &Path,
    ) -> Result<Option<(blobs::ObjectMeta, Input)>, RunError> {
        if size > self.max_object_bytes {
            return Err(BlobError::new(BlobErrorKind::TooLarge, "the object is too large").into());
        }
        if size <= MAX_IN_MEMORY {
            let fetched = self.blobs.get(key, self.max_object_bytes).await?;
            return Ok(fetched.map(|(meta, bytes)| (meta, Input::Bytes(bytes))));
        }
        let meta = self.blobs.get_to_file(key, temp_path, self.max_object_bytes).await?;
        Ok(meta.map(|meta| (meta, Input::File(temp_path.to_owned()))))
    }

    async fn indexed(
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
            source_uri: Some(self.blobs.uri(&file.object_key)),
            mime: Some(kind.media_type().to_owned()),
            country: None,
            listed: true,
        };
        let mut labels = vec![format!("kind:{}", kind.as_str())];
        labels.extend(extracted.labels);
        let content = prepare::Content {
            title: extracted.title.or_else(|| Some(stem(&file.name).to_owned())),
            markdown: extracted.markdown,
            description: extracted.description,
            language: extracted.language,
            published_at: extracted.published_at.map(Timestamp::from_millis),
            labels,
            page_starts: extracted.page_starts,
            extent: prepare::Extent::Whole,
        };
        let document = prepare::document_in_background(source, content, read_at).await;
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
        let mut result = self.failed(planned, 0, "corrupt_object", "object storage returned damaged content");
        result.changes.processed_etag = None;
        result.changes.processed_size = None;
        result.content = FileContent::Keep;
        result
    }

    fn skipped(&self, planned: &PlannedFile, message: &str) -> FileResult {
        let counts = RunStats { skipped_unsupported: 1, ..RunStats::default() };
        self.result(planned, FileOutcome::SkippedUnsupported, Some(message.to_owned()), counts)
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
            changes: FileChanges {
                processed_etag: Some(planned.object.etag.clone()),
                processed_size: i64::try_from(planned.object.size).ok(),
                outcome: Some(outcome),
                reason,
                last_run_id: Some(self.sync_id),
            },
            content: FileContent::Remove,
            counts,
        }
    }
}

/// Returns the name without its extension.
fn stem(name: &str) -> &str {
    match name.rfind('.') {
        Some(0) | None => name,
        Some(dot) => &name[..dot],
    }
}
