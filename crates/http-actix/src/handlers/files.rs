use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use api_types::timestamp::rfc3339;
use api_types::{
    FileDeleteResponse, FileEntry, FileListResponse, IndexMode, IndexRequest, IndexStartResponse, IndexStats,
    IndexStatusResponse, PresignRequest, PresignResponse,
};
use model::{RunMode, RunState, RunStats, Scope};
use openapi::operations;
use percent_encoding::percent_decode_str;

use crate::call::{Call, Context};
use crate::endpoint::{Endpoint, answer};
use crate::failure::Failure;
use crate::numbers::wire_int;
use crate::reply::Reply;

const PRESIGN: Endpoint = Endpoint::of(&operations::PRESIGN_FILE, Scope::FilesWrite);
const LIST: Endpoint = Endpoint::of(&operations::LIST_FILES, Scope::FilesRead);
const DELETE: Endpoint = Endpoint::of(&operations::DELETE_FILE, Scope::FilesWrite);
const START_RUN: Endpoint = Endpoint::of(&operations::START_RUN, Scope::FilesWrite);
const RUN_STATUS: Endpoint = Endpoint::of(&operations::RUN_STATUS, Scope::FilesRead);

/// Longest file name, in characters.
const MAX_NAME: usize = 512;
/// Longest run id, in characters.
const MAX_SYNC_ID: usize = 128;

pub(crate) async fn presign_file(request: HttpRequest, payload: web::Payload) -> HttpResponse {
    answer(&PRESIGN, request, payload, run_presign).await
}

async fn run_presign(mut call: Call) -> Result<Reply, Failure> {
    let body: PresignRequest = call.read().await?;
    let request = app::files::PresignRequest {
        filename: body.filename,
        size: u64::try_from(body.size).unwrap_or(0),
        content_type: body.content_type,
    };
    let presigned =
        call.context.run(|service, viewer| async move { service.presign_file(&viewer, request).await }).await?;
    let response = PresignResponse {
        schema: call.context.schema("PresignResponse"),
        request_id: call.context.request_id,
        name: presigned.name,
        url: presigned.url,
        expires_in_seconds: wire_int(presigned.expires_in_seconds),
        max_object_bytes: wire_int(presigned.max_object_bytes),
    };
    Reply::json(StatusCode::OK, &response)
}

pub(crate) async fn list_files(request: HttpRequest, payload: web::Payload) -> HttpResponse {
    answer(&LIST, request, payload, run_list).await
}

async fn run_list(call: Call) -> Result<Reply, Failure> {
    Reply::json(StatusCode::OK, &perform_list(&call.context).await?)
}

/// The operation itself.
pub(crate) async fn perform_list(context: &Context) -> Result<FileListResponse, Failure> {
    let files = context.run(|service, viewer| async move { service.list_files(&viewer).await }).await?;
    let entry = |file: app::files::FileView| FileEntry {
        name: file.name,
        size: wire_int(file.size),
        last_modified: rfc3339(file.last_modified),
    };
    Ok(FileListResponse {
        schema: context.schema("FileListResponse"),
        request_id: context.request_id,
        files: files.into_iter().map(entry).collect(),
    })
}

pub(crate) async fn delete_file(request: HttpRequest, payload: web::Payload) -> HttpResponse {
    answer(&DELETE, request, payload, run_delete).await
}

async fn run_delete(call: Call) -> Result<Reply, Failure> {
    let name = last_segment(&call.request, "name", MAX_NAME)?;
    let deleted = call.context.run(|service, viewer| async move { service.delete_file(&viewer, &name).await }).await?;
    let response = FileDeleteResponse {
        schema: call.context.schema("FileDeleteResponse"),
        request_id: call.context.request_id,
        deleted,
    };
    Reply::json(StatusCode::OK, &response)
}

pub(crate) async fn start_run(request: HttpRequest, payload: web::Payload) -> HttpResponse {
    answer(&START_RUN, request, payload, run_start).await
}

async fn run_start(mut call: Call) -> Result<Reply, Failure> {
    let body: IndexRequest = call.read().await?;
    let mode = match body.mode {
        IndexMode::Incremental => RunMode::Incremental,
        IndexMode::Full => RunMode::Full,
    };
    let run = call.context.run(|service, viewer| async move { service.start_run(&viewer, mode).await }).await?;
    let response = IndexStartResponse {
        schema: call.context.schema("IndexStartResponse"),
        request_id: call.context.request_id,
        sync_id: run.sync_id.to_string(),
        state: state(run.state),
    };
    Reply::json(StatusCode::ACCEPTED, &response)
}

pub(crate) async fn run_status(request: HttpRequest, payload: web::Payload) -> HttpResponse {
    answer(&RUN_STATUS, request, payload, run_run_status).await
}

async fn run_run_status(call: Call) -> Result<Reply, Failure> {
    let sync_id = last_segment(&call.request, "sync_id", MAX_SYNC_ID)?;
    let run = call.context.run(|service, viewer| async move { service.run_status(&viewer, &sync_id).await }).await?;
    let response = IndexStatusResponse {
        schema: call.context.schema("IndexStatusResponse"),
        request_id: call.context.request_id,
        sync_id: run.sync_id.to_string(),
        state: state(run.state),
        started_at: run.started_at.map(rfc3339),
        completed_at: run.completed_at.map(rfc3339),
        error: run.error,
        stats: stats(run.stats),
    };
    Reply::json(StatusCode::OK, &response)
}

fn state(state: RunState) -> api_types::RunState {
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

/// The last segment of the path, percent-decoded. Taken from the raw path: the router decodes some characters and
/// leaves others, so that a second decoding would read `%2525` wrong.
fn last_segment(request: &HttpRequest, field: &str, max_chars: usize) -> Result<String, Failure> {
    let raw = request.uri().path().rsplit('/').next().unwrap_or_default();
    let text = percent_decode_str(raw)
        .decode_utf8()
        .map_err(|_| Failure::invalid(field, format!("{field} must be percent-encoded UTF-8")))?;
    if text.chars().count() > max_chars {
        return Err(Failure::invalid(field, format!("{field} must have at most {max_chars} characters")));
    }
    Ok(text.into_owned())
}
