use api_types::{DocumentRequest, DocumentResponse, DocumentsRequest, DocumentsResponse, ErrorCode, WarningCode};
use model::Scope;

use crate::examples::{self, Example};
use crate::{InvalidRequest, Operation, Tag};

group! {
    /// Metadata, content and passages of one document.
    ReadDocument,
    /// Several documents at once.
    ReadDocuments,
}

impl Operation for ReadDocument {
    type Path = ();
    type Query = ();
    type Body = DocumentRequest;
    type Response = DocumentResponse;

    const ID: &'static str = "readDocument";
    const ROUTE: &'static str = "POST /v1/document";
    const TAG: Tag = Tag::Documents;
    const SCOPE: Option<Scope> = Some(Scope::DocumentRead);
    const SUMMARY: &'static str = "Read a document";
    const DESCRIPTION: &'static str = "\
Returns metadata, selected content, citable passages, captures and provenance of one document. An unknown address is \
fetched.

A `doc_id` resolves if the organization was granted the document: it appeared in one of its search results, or its \
address was read. To continue a long document, send `content.range` with `start_char` = `start_char` + `char_count` of \
the previous response, and the selection `full_document`; a start past the end returns an empty text. If the content \
cannot be fetched, the response is still 200, with the warning `content_unavailable` and its `reason`; content that is \
too old and cannot be read again is returned with `stale_content`.

If the response holds a part of the document (a limit, a range or a selection), `passages` and `doc.headings` are those of \
that part. A page is fetched again if its stored copy is older than `max_age_seconds`; 0 fetches it now.

With `capture_id` the response holds that capture instead of the latest one, and nothing is fetched; `doc` and `capture_history` still \
name the latest one. The error is `document_not_found` once the capture is gone.

A fetch that a read causes is private to the organization: it changes neither search results nor the reads of others.";
    const LABEL: &'static str = "Read document";
    const SUCCESS: &'static str = "The document.";
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::DocumentNotFound];
    const INVALID: InvalidRequest =
        InvalidRequest { field: "doc_id", message: "either doc_id or canonical_url is required" };
    const WARNINGS: &'static [WarningCode] = &[
        WarningCode::ContentUnavailable,
        WarningCode::StaleContent,
        WarningCode::NoMatch,
        WarningCode::ContentTruncated,
        WarningCode::StaleRange,
        WarningCode::StalePassageId,
    ];
    const RETRY_SAFE: bool = true;

    fn request_examples() -> Vec<Example> {
        examples::documents::requests()
    }

    fn response_example() -> Example {
        examples::documents::response()
    }
}

impl Operation for ReadDocuments {
    type Path = ();
    type Query = ();
    type Body = DocumentsRequest;
    type Response = DocumentsResponse;

    const ID: &'static str = "readDocuments";
    const ROUTE: &'static str = "POST /v1/documents";
    const TAG: Tag = Tag::Documents;
    const SCOPE: Option<Scope> = Some(Scope::DocumentRead);
    const SUMMARY: &'static str = "Read several documents";
    const DESCRIPTION: &'static str = "\
Reads up to 20 documents concurrently, each as `POST /v1/document` does. `results` has one entry for each, in the order of \
the request, with its own status: an unknown document does not fail the others. One budget covers the whole response: \
short documents leave their share to longer ones, whose texts are cut, with `content_truncated`. Continue them one by one \
with `content.range`.

Without a limit, texts have at most 8 million characters together, in equal shares. The request counts once against the \
rate limit.";
    const LABEL: &'static str = "Read documents";
    const SUCCESS: &'static str = "The outcome of each read.";
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::ResponseTooLarge];
    const INVALID: InvalidRequest =
        InvalidRequest { field: "documents", message: "documents must have at least 1 item, not 0" };
    const WARNINGS: &'static [WarningCode] = &[
        WarningCode::ResponseTruncated,
        WarningCode::BudgetUnsatisfiable,
        WarningCode::ContentUnavailable,
        WarningCode::StaleContent,
        WarningCode::NoMatch,
        WarningCode::ContentTruncated,
        WarningCode::StaleRange,
        WarningCode::StalePassageId,
    ];
    const RETRY_SAFE: bool = true;

    fn request_examples() -> Vec<Example> {
        examples::documents::several()
    }

    fn response_example() -> Example {
        examples::documents::several_response()
    }
}
