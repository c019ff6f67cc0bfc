use api_types::timestamp::rfc3339;
use api_types::{
    FileContentResponse, FileDeleteResponse, FileEntry, FileListResponse, FileResponse, IndexFilesResponse, IndexMode,
    IndexStartResponse, IndexStats, IndexStatusResponse, IndexedFile, PresignResponse,
};
use app::Work;
use app::files::{FileView, FilesPage, FilesPart, OutcomeView, PresignRequest};
use model::{FileStatus, RunMode, RunState, RunStats};
use openapi::parameters::{FileName, PageQuery, SyncId};
use openapi::{Input, operations};

use crate::call::Context;
use crate::endpoint::Endpoint;
use crate::failure::{Failure, clipped};
use crate::handlers::page;
use crate::memory::{Answer, Gathered};
use crate::metered;
use crate::numbers::wire_int;

/// Bytes of an entry beside its name, URL, reason and labels: names of fields, ids and times.
const ENTRY_BYTES: usize = 256;

impl Endpoint for operations::PresignFile {
    async fn handle(context: &Context, input: Input<Self>) -> Result<PresignResponse, Failure> {
        let request = PresignRequest {
            filename: input.body.filename,
            size: u64::try_from(input.body.size).unwrap_or(0),
            content_type: input.body.content_type,
            labels: input.body.labels,
        };
        let presigned = context
            .run(Work::Small, |service, viewer| async move { service.presign_file(&viewer, request).await })
            .await?;
        Ok(PresignResponse {
            schema: context.schema::<PresignResponse>(),
            request_id: context.request_id,
            name: presigned.name,
            url: presigned.url,
            expires_in_seconds: wire_int(presigned.expires_in_seconds),
            max_object_bytes: wire_int(presigned.max_object_bytes),
            replaces: presigned.replaces,
        })
    }
}

impl Endpoint for operations::ListFiles {
    async fn handle(context: &Context, input: Input<Self>) -> Result<FileListResponse, Failure> {
        listing(context, input.query, &context.gather()).await
    }

    async fn handle_to_json(context: &Context, input: Input<Self>) -> Result<Answer, Failure> {
        let memory = context.gather();
        let response = listing(context, input.query, &memory).await?;
        metered::answer(context, memory, response).await
    }
}

/// Returns the page that the query asks for, or the whole list.
async fn listing(context: &Context, query: PageQuery, memory: &Gathered<'_>) -> Result<FileListResponse, Failure> {
    let (files, next_cursor) = match query {
        PageQuery { cursor: None, limit: None } => (whole_list(context, memory).await?, None),
        query => {
            let page = page::request(query)?;
            let reading =
                context.run(Work::Small, |service, viewer| async move { service.list_files_page(&viewer, page).await });
            let FilesPage { files, next_cursor } = reading.await?;
            (files.into_iter().map(entry).collect(), next_cursor)
        }
    };
    Ok(FileListResponse {
        schema: context.schema::<FileListResponse>(),
        request_id: context.request_id,
        files,
        next_cursor,
    })
}

/// Returns all files, sorted by name. Reads them in parts, and takes memory for each.
async fn whole_list(context: &Context, memory: &Gathered<'_>) -> Result<Vec<FileEntry>, Failure> {
    let deadline = context.deadline();
    let mut files: Vec<FileEntry> = Vec::new();
    let mut after = None;
    loop {
        let reading = context.run_until(deadline, Work::Report, |service, viewer| async move {
            service.list_files_part(&viewer, after).await
        });
        let FilesPart { files: part, next } = reading.await?;
        let part: Vec<FileEntry> = part.into_iter().map(entry).collect();
        memory.add(part.iter().map(bytes_of).sum()).await?;
        files.extend(part);
        if next.is_none() {
            break;
        }
        after = next;
    }
    files.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(files)
}

impl Endpoint for operations::GetFile {
    async fn handle(context: &Context, input: Input<Self>) -> Result<FileResponse, Failure> {
        let FileName(name) = input.path;
        let file =
            context.run(Work::Small, |service, viewer| async move { service.find_file(&viewer, &name).await }).await?;
        Ok(FileResponse { schema: context.schema::<FileResponse>(), request_id: context.request_id, file: entry(file) })
    }
}

impl Endpoint for operations::GetFileContent {
    async fn handle(context: &Context, input: Input<Self>) -> Result<FileContentResponse, Failure> {
        let FileName(name) = input.path;
        let download = context
            .run(Work::Small, |service, viewer| async move { service.download_file(&viewer, &name).await })
            .await?;
        Ok(FileContentResponse {
            schema: context.schema::<FileContentResponse>(),
            request_id: context.request_id,
            url: download.url,
            expires_in_seconds: wire_int(download.expires_in_seconds),
        })
    }
}

impl Endpoint for operations::ListIndexRunFiles {
    async fn handle(context: &Context, input: Input<Self>) -> Result<IndexFilesResponse, Failure> {
        let SyncId(sync_id) = input.path;
        let page = page::request(input.query)?;
        let outcomes = context
            .run(Work::Small, |service, viewer| async move { service.list_outcomes(&viewer, &sync_id, page).await })
            .await?;
        Ok(IndexFilesResponse {
            schema: context.schema::<IndexFilesResponse>(),
            request_id: context.request_id,
            sync_id: outcomes.sync_id.to_string(),
            files: outcomes.files.into_iter().map(outcome).collect(),
            next_cursor: outcomes.next_cursor,
        })
    }
}

impl Endpoint for operations::DeleteFile {
    async fn handle(context: &Context, input: Input<Self>) -> Result<FileDeleteResponse, Failure> {
        let FileName(name) = input.path;
        let deleted = context
            .run(Work::Small, |service, viewer| async move { service.delete_file(&viewer, &name).await })
            .await?;
        Ok(FileDeleteResponse {
            schema: context.schema::<FileDeleteResponse>(),
            request_id: context.request_id,
            deleted,
        })
    }
}

impl Endpoint for operations::StartIndexRun {
    async fn handle(context: &Context, input: Input<Self>) -> Result<IndexStartResponse, Failure> {
        let mode = match input.body.mode {
            IndexMode::Incremental => RunMode::Incremental,
            IndexMode::Full => RunMode::Full,
        };
        let run =
            context.run(Work::Small, |service, viewer| async move { service.start_run(&viewer, mode).await }).await?;
        Ok(IndexStartResponse {
            schema: context.schema::<IndexStartResponse>(),
            request_id: context.request_id,
            sync_id: run.sync_id.to_string(),
            state: state(run.state),
        })
    }
}

impl Endpoint for operations::GetIndexRun {
    async fn handle(context: &Context, input: Input<Self>) -> Result<IndexStatusResponse, Failure> {
        let SyncId(sync_id) = input.path;
        let run = context
            .run(Work::Small, |service, viewer| async move { service.run_status(&viewer, &sync_id).await })
            .await?;
        Ok(IndexStatusResponse {
            schema: context.schema::<IndexStatusResponse>(),
            request_id: context.request_id,
            sync_id: run.sync_id.to_string(),
            state: state(run.state),
            started_at: run.started_at.map(rfc3339),
            completed_at: run.completed_at.map(rfc3339),
            error: run.error,
            stats: stats(run.stats),
        })
    }
}

fn entry(file: FileView) -> FileEntry {
    FileEntry {
        name: file.name,
        size: wire_int(file.size),
        last_modified: rfc3339(file.last_modified),
        doc_id: Some(file.doc_id.0),
        canonical_url: Some(file.canonical_url),
        status: Some(status(file.status)),
        reason: file.reason.map(clipped),
        indexed_at: file.indexed_at.map(rfc3339),
        labels: file.labels,
    }
}

/// Estimates the bytes of an entry in an answer.
fn bytes_of(file: &FileEntry) -> usize {
    let labels: usize = file.labels.iter().map(String::len).sum();
    let optional = [&file.canonical_url, &file.reason].into_iter().flatten().map(String::len).sum::<usize>();
    file.name.len() + optional + labels + ENTRY_BYTES
}

fn outcome(file: OutcomeView) -> IndexedFile {
    IndexedFile {
        name: file.name,
        doc_id: file.doc_id.0,
        status: status(file.status),
        reason: file.reason.map(clipped),
    }
}

fn status(status: FileStatus) -> api_types::FileStatus {
    match status {
        FileStatus::Pending => api_types::FileStatus::Pending,
        FileStatus::Indexed => api_types::FileStatus::Indexed,
        FileStatus::Failed => api_types::FileStatus::Failed,
        FileStatus::Unsupported => api_types::FileStatus::Unsupported,
    }
}

pub(crate) fn state(state: RunState) -> api_types::RunState {
    match state {
        RunState::Queued => api_types::RunState::Queued,
        RunState::Planning => api_types::RunState::Planning,
        RunState::Running => api_types::RunState::Running,
        RunState::Completed => api_types::RunState::Completed,
        RunState::Failed => api_types::RunState::Failed,
    }
}

fn stats(stats: RunStats) -> IndexStats {
    IndexStats {
        enumerated: wire_int(stats.enumerated),
        fetched: wire_int(stats.fetched),
        indexed: wire_int(stats.indexed),
        failed: wire_int(stats.failed),
        skipped_unsupported: wire_int(stats.skipped_unsupported),
        deleted: wire_int(stats.deleted),
        bytes: wire_int(stats.bytes),
    }
}
