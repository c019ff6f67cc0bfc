use api_types::{
    ErrorCode, FileContentResponse, FileDeleteResponse, FileListResponse, FileResponse, IndexFilesResponse, IndexRequest,
    IndexStartResponse, IndexStatusResponse, NoBody, PresignRequest, PresignResponse,
};
use model::Scope;

use crate::examples::{Example, files as examples};
use crate::parameters::{FileName, PageQuery, SyncId};
use crate::{InvalidRequest, Operation, Tag};

group! {
    /// A signed upload URL for one file.
    PresignFile,
    /// The list of stored files.
    ListFiles,
    /// One stored file.
    GetFile,
    /// A signed URL of a file's original.
    GetFileContent,
    /// Removal of one file.
    DeleteFile,
    /// The start of an indexing run.
    StartIndexRun,
    /// The state of an indexing run.
    GetIndexRun,
    /// The outcomes of the files of an indexing run.
    ListIndexRunFiles,
}

impl Operation for PresignFile {
    type Path = ();
    type Query = ();
    type Body = PresignRequest;
    type Response = PresignResponse;

    const ID: &'static str = "presignFile";
    const ROUTE: &'static str = "POST /v1/files/presign";
    const TAG: Tag = Tag::Files;
    const SCOPE: Option<Scope> = Some(Scope::FilesWrite);
    const SUMMARY: &'static str = "Prepare an upload";
    const DESCRIPTION: &'static str = "\
Returns a signed URL for one `PUT` of exactly `size` bytes to storage, without an `Authorization` header: never send \
the API key there. Uploading the same name again replaces the file. A file counts against the quota of bytes with its \
declared size from this request on.

`labels` group files; `filters.labels` of a search finds them. They apply at once, also to a file that is indexed already, \
and replace those of an earlier upload. Without `labels` these stay. Deleting a file deletes its labels.

Names are sanitized, so two names may mean one file. `replaces` then names the earlier one.

Types: `pdf`, `html`, `htm`, `txt`, `md`, `docx`, `pptx`, `xlsx`, `doc`, `ppt`, `xls`, `rtf`, `odt`, `odp`, `ods`, \
`csv`, `tsv`.";
    const LABEL: &'static str = "Presign upload";
    const SUCCESS: &'static str = "The upload URL.";
    const ERRORS: &'static [ErrorCode] = 
        &[ErrorCode::FileTooLarge, ErrorCode::UnsupportedFileType, ErrorCode::QuotaExceeded];
    const INVALID: InvalidRequest = InvalidRequest {
        field: "size",
        message: "size: missing field `size` at line 1 column 25",
    };
    const RETRY_SAFE: bool = true;

    fn request_examples() -> Vec<Example> {
        examples::presign_requests()
    }

    fn response_example() -> Example {
        examples::presign_response()
    }
}

impl Operation for ListFiles {
    type Path = ();
    type Query = PageQuery;
    type Body = NoBody;
    type Response = FileListResponse;

    const ID: &'static str = "listFiles";
    const ROUTE: &'static str = "GET /v1/files";
    const TAG: Tag = Tag::Files;
    const SCOPE: Option<Scope> = Some(Scope::FilesRead);
    const SUMMARY: &'static str = "List files";
    const DESCRIPTION: &'static str = "\
Lists the stored files of the organization, indexed or not, sorted by name. With `limit` or `cursor` it returns one page, and \
`next_cursor` while there are more. Without both it returns all files.";
    const LABEL: &'static str = "List files";
    const SUCCESS: &'static str = "The files.";
    const INVALID: InvalidRequest =
        InvalidRequest { field: "limit", message: "limit must be a number between 1 and 1000" };
    const RETRY_SAFE: bool = true;

    fn response_example() -> Example {
        examples::list_response()
    }
}

impl Operation for GetFile {
    type Path = FileName;
    type Query = ();
    type Body = NoBody;
    type Response = FileResponse;

    const ID: &'static str = "getFile";
    const ROUTE: &'static str = "GET /v1/files/{name}";
    const TAG: Tag = Tag::Files;
    const SCOPE: Option<Scope> = Some(Scope::FilesRead);
    const SUMMARY: &'static str = "Get a file";
    const DESCRIPTION: &'static str = "Returns one file with its indexing state.";
    const LABEL: &'static str = "Get file";
    const SUCCESS: &'static str = "The file.";
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::FileNotFound];
    const INVALID: InvalidRequest = InvalidRequest { field: "name", message: "name must have at most 512 characters" };
    const RETRY_SAFE: bool = true;

    fn response_example() -> Example {
        examples::file_response()
    }
}

impl Operation for GetFileContent {
    type Path = FileName;
    type Query = ();
    type Body = NoBody;
    type Response = FileContentResponse;

    const ID: &'static str = "getFileContent";
    const ROUTE: &'static str = "GET /v1/files/{name}/content";
    const TAG: Tag = Tag::Files;
    const SCOPE: Option<Scope> = Some(Scope::FilesRead);
    const SUMMARY: &'static str = "Download a file";
    const DESCRIPTION: &'static str = "\
Returns a signed URL of the original in storage, to be fetched with `GET` and without an `Authorization` header: never send \
the API key there. The response is an attachment under the file's name.";
    const LABEL: &'static str = "Download file";
    const SUCCESS: &'static str = "The download URL.";
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::FileNotFound];
    const INVALID: InvalidRequest = InvalidRequest { field: "name", message: "name must have at most 512 characters" };
    const RETRY_SAFE: bool = true;

    fn response_example() -> Example {
        examples::content_response()
    }
}

impl Operation for DeleteFile {
    type Path = FileName;
    type Query = ();
    type Body = NoBody;
    type Response = FileDeleteResponse;

    const ID: &'static str = "deleteFile";
    const ROUTE: &'static str = "DELETE /v1/files/{name}";
    const TAG: Tag = Tag::Files;
    const SCOPE: Option<Scope> = Some(Scope::FilesWrite);
    const SUMMARY: &'static str = "Delete a file";
    const DESCRIPTION: &'static str = "\
Removes a file. An indexing run that starts on its own then removes its document from search. Deleting a file that does \
not exist is not an error.";
    const LABEL: &'static str = "Delete file";
    const SUCCESS: &'static str = "The outcome: `deleted` is false if there was no such file.";
    const INVALID: InvalidRequest = InvalidRequest { field: "name", message: "name must have at most 512 characters" };
    const RETRY_SAFE: bool = true;

    fn response_example() -> Example {
        examples::delete_response()
    }
}

impl Operation for StartIndexRun {
    type Path = ();
    type Query = ();
    type Body = IndexRequest;
    type Response = IndexStartResponse;

    const ID: &'static str = "startIndexRun";
    const ROUTE: &'static str = "POST /v1/files/index";
    const TAG: Tag = Tag::Files;
    const SCOPE: Option<Scope> = Some(Scope::FilesWrite);
    const SUMMARY: &'static str = "Start an indexing run";
    const DESCRIPTION: &'static str = "\
Indexes uploaded files. One run is active at a time: a start during a run queues one more, and every further start \
returns the `sync_id` of the queued run.";
    const LABEL: &'static str = "Start indexing";
    const STATUS: u16 = 202;
    const SUCCESS: &'static str = "The run is queued.";
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::RetrievalNotConfigured, ErrorCode::QuotaExceeded];
    const INVALID: InvalidRequest = InvalidRequest {
        field: "mode",
        message: "mode: unknown variant `all`, expected `incremental` or `full` at line 1 column 14",
    };
    // A second request may start a second run.
    const RETRY_SAFE: bool = false;

    fn request_examples() -> Vec<Example> {
        examples::index_requests()
    }

    fn response_example() -> Example {
        examples::index_response()
    }
}

impl Operation for GetIndexRun {
    type Path = SyncId;
    type Query = ();
    type Body = NoBody;
    type Response = IndexStatusResponse;

    const ID: &'static str = "getIndexRun";
    const ROUTE: &'static str = "GET /v1/files/index/{sync_id}";
    const TAG: Tag = Tag::Files;
    const SCOPE: Option<Scope> = Some(Scope::FilesRead);
    const SUMMARY: &'static str = "Poll an indexing run";
    const DESCRIPTION: &'static str = "\
Returns the state of a run. `completed` and `failed` are final. An unreadable file never fails a run: it counts in \
`stats.failed` or `stats.skipped_unsupported`.";
    const LABEL: &'static str = "Indexing status";
    const SUCCESS: &'static str = "The run.";
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::SyncNotFound];
    const INVALID: InvalidRequest = InvalidRequest {
        field: "sync_id",
        message: "sync_id must have at most 128 characters",
    };
    const RETRY_SAFE: bool = true;

    fn response_example() -> Example {
        examples::status_response()
    }
}

impl Operation for ListIndexRunFiles {
    type Path = SyncId;
    type Query = PageQuery;
    type Body = NoBody;
    type Response = IndexFilesResponse;

    const ID: &'static str = "listIndexRunFiles";
    const ROUTE: &'static str = "GET /v1/files/index/{sync_id}/files";
    const TAG: Tag = Tag::Files;
    const SCOPE: Option<Scope> = Some(Scope::FilesRead);
    const SUMMARY: &'static str = "List the files of a run";
    const DESCRIPTION: &'static str = "\
Lists the outcome of each file that a run has processed so far, sorted by name, in pages. Later runs do not change it. Files \
that the run skipped as unchanged are not listed. Outcomes are kept for 30 days.";
    const LABEL: &'static str = "Indexed files";
    const SUCCESS: &'static str = "The outcomes.";
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::SyncNotFound];
    const INVALID: InvalidRequest =
        InvalidRequest { field: "limit", message: "limit must be a number between 1 and 1000" };
    const RETRY_SAFE: bool = true;

    fn response_example() -> Example {
        examples::run_files_response()
    }
}
