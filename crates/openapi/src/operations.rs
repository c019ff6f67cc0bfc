//! The table of operations.

use api_types::{ErrorCode, WarningCode};

use crate::examples::{self, Example};
use crate::parameters::{FILE_NAME, Parameter, SYNC_ID, USAGE};

/// A group of operations.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tag {
    Search,
    Documents,
    Feedback,
    Files,
    Usage,
}

impl Tag {
    pub const ALL: [Tag; 5] = [Tag::Search, Tag::Documents, Tag::Feedback, Tag::Files, Tag::Usage];

    /// The name in the document.
    pub const fn as_str(self) -> &'static str {
        match self {
            Tag::Search => "Search",
            Tag::Documents => "Documents",
            Tag::Feedback => "Feedback",
            Tag::Files => "Files",
            Tag::Usage => "Usage",
        }
    }

    pub(crate) const fn description(self) -> &'static str {
        match self {
            Tag::Search => {
                "Ranked search over the shared web index, the organization's own files, or both. Results come with \
                 quotable passages, in the size that the caller asks for."
            }
            Tag::Documents => "Reading one document: metadata, content, passages for citation, captures.",
            Tag::Feedback => "What an agent or an evaluation says of a result, a passage or a search.",
            Tag::Files => {
                "The organization's own documents: presign, upload to storage, start an indexing run, poll it, then \
                 search with the workspace scope."
            }
            Tag::Usage => "What the organization's credentials asked, how long answers took, and what was charged.",
        }
    }
}

/// One operation of the public API.
#[derive(Debug)]
pub struct Operation {
    /// Unique; what generated clients call it.
    pub id: &'static str,
    /// Method and path template, e.g. `GET /v1/files/index/{sync_id}`: how usage and logs name it, too.
    pub route: &'static str,
    pub tag: Tag,
    /// A few words.
    pub summary: &'static str,
    /// CommonMark.
    pub description: &'static str,
    /// What the credential must be allowed to do.
    pub scope: &'static str,
    /// The variable last segment of the path, if there is one.
    pub path_parameter: Option<&'static Parameter>,
    /// Any other query parameter is refused.
    pub query_parameters: &'static [Parameter],
    /// The name of the request's type in `api_types::schemas`.
    pub request: Option<&'static str>,
    /// The status of success.
    pub status: u16,
    /// The name of the response's type in `api_types::schemas`.
    pub response: &'static str,
    /// What success means, in a sentence.
    pub success: &'static str,
    /// Errors beside [`crate::operations::COMMON_ERRORS`].
    pub errors: &'static [ErrorCode],
    /// Warnings that a response may carry.
    pub warnings: &'static [WarningCode],
    pub(crate) request_examples: fn() -> Vec<Example>,
    pub(crate) response_example: fn() -> Example,
}

impl Operation {
    /// The HTTP method in capitals.
    pub fn method(&self) -> &'static str {
        self.route.split_once(' ').map_or("", |(method, _)| method)
    }

    /// The path template.
    pub fn path(&self) -> &'static str {
        self.route.split_once(' ').map_or("", |(_, path)| path)
    }

    /// Every error that it can answer with, by status.
    pub fn all_errors(&self) -> Vec<ErrorCode> {
        let mut errors: Vec<_> = COMMON_ERRORS.iter().chain(self.errors).copied().collect();
        errors.sort_by_key(|code| code.status());
        errors
    }
}

/// The operation of this id.
pub fn find(id: &str) -> Option<&'static Operation> {
    ALL.iter().copied().find(|operation| operation.id == id)
}

/// What every operation can answer with: the door, bad input, and faults behind it.
pub const COMMON_ERRORS: [ErrorCode; 7] = [
    ErrorCode::ValidationError,
    ErrorCode::MissingApiKey,
    ErrorCode::InvalidApiKey,
    ErrorCode::InsufficientScope,
    ErrorCode::RateLimited,
    ErrorCode::InternalError,
    ErrorCode::ProviderUnavailable,
];

/// Every operation, in the order of the reference.
pub static ALL: [&Operation; 9] = [
    &SEARCH,
    &READ_DOCUMENT,
    &SUBMIT_FEEDBACK,
    &PRESIGN_FILE,
    &LIST_FILES,
    &DELETE_FILE,
    &START_RUN,
    &RUN_STATUS,
    &USAGE_OVERVIEW,
];

pub static SEARCH: Operation = Operation {
    id: "search",
    route: "POST /v1/search",
    tag: Tag::Search,
    summary: "Search",
    description: "Ranks documents of the web index, of the organization's workspace, or of both, and returns the \
                  passages that answer the query best.\n\nA 200 with warnings is a complete answer. Scores are \
                  comparable only inside the response that carries them; use `doc_id` as a reference that lasts. The \
                  token of the rate limit is spent before the body is checked.",
    scope: "search:read",
    path_parameter: None,
    query_parameters: &[],
    request: Some("SearchRequest"),
    status: 200,
    response: "SearchResponse",
    success: "The ranked list, best first.",
    errors: &[ErrorCode::ResponseTooLarge, ErrorCode::InsufficientBalance, ErrorCode::RetrievalNotConfigured],
    warnings: &[
        WarningCode::ResponseTruncated,
        WarningCode::BudgetUnsatisfiable,
        WarningCode::UnknownField,
        WarningCode::SourcePolicyFiltered,
        WarningCode::RerankUnavailable,
    ],
    request_examples: examples::search::requests,
    response_example: examples::search::response,
};

pub static READ_DOCUMENT: Operation = Operation {
    id: "readDocument",
    route: "POST /v1/document",
    tag: Tag::Documents,
    summary: "Read a document",
    description: "Metadata, selected content, passages for citation, captures and provenance of one document. An address \
                  that is not known yet is fetched.\n\nA `doc_id` resolves when the organization was granted it: it \
                  appeared in one of its search results, or its address was read. To read on in a long document, send \
                  `content.range` with `start_char` = `start_char` + `char_count` of the answer before, and the \
                  selection `full_document`; a start past the end gives an empty text. When the content cannot be \
                  fetched, the answer is still 200, with the warning `content_unavailable`.",
    scope: "document:read",
    path_parameter: None,
    query_parameters: &[],
    request: Some("DocumentRequest"),
    status: 200,
    response: "DocumentResponse",
    success: "The document.",
    errors: &[ErrorCode::DocumentNotFound],
    warnings: &[
        WarningCode::ContentUnavailable,
        WarningCode::ContentTruncated,
        WarningCode::StaleRange,
        WarningCode::StalePassageId,
    ],
    request_examples: examples::documents::requests,
    response_example: examples::documents::response,
};

pub static SUBMIT_FEEDBACK: Operation = Operation {
    id: "submitFeedback",
    route: "POST /v1/feedback",
    tag: Tag::Feedback,
    summary: "Give feedback",
    description: "Stores one event about a result, a passage or a search. Only `event_type` is required; a `search_id` \
                  ties the event to the exact list that was returned.",
    scope: "feedback:write",
    path_parameter: None,
    query_parameters: &[],
    request: Some("FeedbackRequest"),
    status: 200,
    response: "FeedbackResponse",
    success: "The event is stored.",
    errors: &[ErrorCode::DocumentNotFound, ErrorCode::SearchNotFound],
    warnings: &[],
    request_examples: examples::feedback::requests,
    response_example: examples::feedback::response,
};

pub static PRESIGN_FILE: Operation = Operation {
    id: "presignFile",
    route: "POST /v1/files/presign",
    tag: Tag::Files,
    summary: "Prepare an upload",
    description: "Gives a signed URL for one `PUT` of exactly `size` bytes to storage, without an `Authorization` header: \
                  never send the API key there. The same name again replaces the file.\n\nTypes: `pdf`, `html`, `htm`, \
                  `txt`, `md`, `docx`, `pptx`, `xlsx`, `doc`, `ppt`, `xls`, `rtf`, `odt`, `odp`, `ods`, `csv`, `tsv`.",
    scope: "files:write",
    path_parameter: None,
    query_parameters: &[],
    request: Some("PresignRequest"),
    status: 200,
    response: "PresignResponse",
    success: "Where to upload the file.",
    errors: &[ErrorCode::FileTooLarge, ErrorCode::UnsupportedFileType],
    warnings: &[],
    request_examples: examples::files::presign_requests,
    response_example: examples::files::presign_response,
};

pub static LIST_FILES: Operation = Operation {
    id: "listFiles",
    route: "GET /v1/files",
    tag: Tag::Files,
    summary: "List files",
    description: "Every stored file of the organization, whether it is indexed or not.",
    scope: "files:read",
    path_parameter: None,
    query_parameters: &[],
    request: None,
    status: 200,
    response: "FileListResponse",
    success: "The files.",
    errors: &[],
    warnings: &[],
    request_examples: Vec::new,
    response_example: examples::files::list_response,
};

pub static DELETE_FILE: Operation = Operation {
    id: "deleteFile",
    route: "DELETE /v1/files/{name}",
    tag: Tag::Files,
    summary: "Delete a file",
    description: "Removes a file, and its document from search, by an indexing run that starts on its own. Deleting what \
                  is not there is no error.",
    scope: "files:write",
    path_parameter: Some(&FILE_NAME),
    query_parameters: &[],
    request: None,
    status: 200,
    response: "FileDeleteResponse",
    success: "Whether there was such a file.",
    errors: &[],
    warnings: &[],
    request_examples: Vec::new,
    response_example: examples::files::delete_response,
};

pub static START_RUN: Operation = Operation {
    id: "startIndexRun",
    route: "POST /v1/files/index",
    tag: Tag::Files,
    summary: "Start an indexing run",
    description: "Indexes what was uploaded. One run goes at a time: a start while one is under way queues one more, and \
                  every further start returns that one's `sync_id`.",
    scope: "files:write",
    path_parameter: None,
    query_parameters: &[],
    request: Some("IndexRequest"),
    status: 202,
    response: "IndexStartResponse",
    success: "The run is queued.",
    errors: &[],
    warnings: &[],
    request_examples: examples::files::index_requests,
    response_example: examples::files::index_response,
};

pub static RUN_STATUS: Operation = Operation {
    id: "getIndexRun",
    route: "GET /v1/files/index/{sync_id}",
    tag: Tag::Files,
    summary: "Poll an indexing run",
    description: "Where a run stands. `completed` and `failed` are final. One bad file never fails a run: it counts in \
                  `stats.failed` or `stats.skipped_unsupported`.",
    scope: "files:read",
    path_parameter: Some(&SYNC_ID),
    query_parameters: &[],
    request: None,
    status: 200,
    response: "IndexStatusResponse",
    success: "The run.",
    errors: &[ErrorCode::SyncNotFound],
    warnings: &[],
    request_examples: Vec::new,
    response_example: examples::files::status_response,
};

pub static USAGE_OVERVIEW: Operation = Operation {
    id: "getUsage",
    route: "GET /v1/usage",
    tag: Tag::Usage,
    summary: "Usage overview",
    description: "Requests, errors, durations and spending of the organization in a window of time: in total, by endpoint, \
                  by key, by product, and as series.",
    scope: "usage:read",
    path_parameter: None,
    query_parameters: &USAGE,
    request: None,
    status: 200,
    response: "UsageOverview",
    success: "The overview.",
    errors: &[],
    warnings: &[],
    request_examples: Vec::new,
    response_example: examples::usage::response,
};
