use api_types::{DocumentRequest, DocumentResponse, ErrorCode, WarningCode};
use model::Scope;

use crate::examples::{self, Example};
use crate::{InvalidRequest, Operation, Tag};

group! {
    /// Metadata, content and passages of one document.
    ReadDocument,
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
cannot be fetched, the response is still 200, with the warning `content_unavailable` and its `reason`; expired content \
that cannot be read again is returned with `stale_content`.

A fetch that a read causes is private to the organization: it changes neither search results nor the reads of others.";
    const LABEL: &'static str = "Read document";
    const SUCCESS: &'static str = "The document.";
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::DocumentNotFound];
    const INVALID: InvalidRequest = InvalidRequest {
        field: "doc_id",
        message: "either doc_id or canonical_url is required",
    };
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
