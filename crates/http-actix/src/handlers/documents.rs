use api_types::timestamp::rfc3339;
use api_types::validation::parse_uuid;
use api_types::{
    CaptureEntry, Content, ContentFormat, ContentRequest, DocumentBlock, DocumentProvenance, DocumentRequest,
    DocumentResponse, Passage, Section, Selection, Warning, WarningCode,
};
use app::Work;
use app::documents::{
    CaptureView, ContentView, DocumentView, Include, PassageView, Range, ReadOutcome, ReadRequest, ReadWarning, Target,
    UnreadableReason,
};
use model::{CaptureId, DocId};
use openapi::{Input, operations};
use serde_json::{Map, Value, json};

use crate::call::Context;
use crate::endpoint::Endpoint;
use crate::failure::Failure;
use crate::metered;
use crate::numbers::wire_int;

impl Endpoint for operations::ReadDocument {
    async fn handle(context: &Context, input: Input<Self>) -> Result<DocumentResponse, Failure> {
        let session_id = context.session(None);
        let request = read_request(input.body)?;
        let outcome = context
            .run(Work::Read, |service, viewer| async move { service.read_document(&viewer, request).await })
            .await?;
        Ok(document_response(context, session_id, outcome))
    }

    /// Serializes a long response off the server's threads, which serve everybody.
    async fn handle_to_json(context: &Context, input: Input<Self>) -> Result<Vec<u8>, Failure> {
        let mut response = Self::handle(context, input).await?;
        if text_bytes(&response) <= INLINE_BYTES {
            return metered::serialize(&mut response);
        }
        context.state.app.compute(&context.viewer, move || metered::serialize(&mut response)).await?
    }
}

/// Length of the text of a response that is serialized in less than a millisecond.
const INLINE_BYTES: usize = 256 << 10;

fn text_bytes(response: &DocumentResponse) -> usize {
    let passages = response.passages.iter().flatten().map(|passage| passage.text.len());
    response.content.as_ref().map_or(0, |content| content.text.len()) + passages.sum::<usize>()
}

fn read_request(body: DocumentRequest) -> Result<ReadRequest, Failure> {
    let target = match (body.doc_id.as_deref().and_then(parse_uuid), body.canonical_url) {
        (Some(doc_id), _) => Target::DocId(DocId(doc_id)),
        (None, Some(url)) => Target::Url(url),
        (None, None) => {
            return Err(Failure::invalid("doc_id", "either doc_id or canonical_url is required"));
        }
    };
    let ContentRequest { selection, format, max_chars, include_offsets, passage_ids, range } = body.content;
    Ok(ReadRequest {
        target,
        include: include(body.include.as_deref()),
        query: body.query,
        selection: match selection {
            Selection::None => app::documents::Selection::None,
            Selection::QueryRelevant => app::documents::Selection::QueryRelevant,
            Selection::TopPassages => app::documents::Selection::TopPassages,
            Selection::PassageIds => app::documents::Selection::PassageIds,
            Selection::FullDocument => app::documents::Selection::FullDocument,
        },
        format: match format {
            ContentFormat::Text => app::documents::ContentFormat::Text,
            ContentFormat::Markdown => app::documents::ContentFormat::Markdown,
        },
        max_chars: max_chars.and_then(positive),
        include_offsets,
        passage_ids,
        range: range.map(|range| Range {
            start_char: u64::try_from(range.start_char).unwrap_or(0),
            max_chars: range.max_chars.and_then(positive),
            capture_id: range.capture_id.as_deref().and_then(parse_uuid).map(CaptureId),
        }),
    })
}

fn positive(number: i64) -> Option<u64> {
    u64::try_from(number).ok()
}

/// Converts the allowlist of sections; absent means all.
fn include(sections: Option<&[Section]>) -> Include {
    let Some(sections) = sections else { return Include::ALL };
    Include {
        metadata: sections.contains(&Section::Metadata),
        passages: sections.contains(&Section::Passages),
        capture_history: sections.contains(&Section::CaptureHistory),
        content: sections.contains(&Section::Content),
    }
}

fn document_response(context: &Context, session_id: String, outcome: ReadOutcome) -> DocumentResponse {
    DocumentResponse {
        schema: context.schema::<DocumentResponse>(),
        request_id: context.request_id,
        session_id,
        access: context.access.clone(),
        doc: document(outcome.document),
        content: outcome.content.map(content),
        passages: outcome.passages.map(|passages| passages.into_iter().map(passage).collect()),
        provenance: outcome.capture.map(|capture| DocumentProvenance {
            capture_id: capture.capture_id.0,
            capture_time: rfc3339(capture.capture_time),
        }),
        capture_history: outcome.capture_history.map(|captures| captures.into_iter().map(capture).collect()),
        usage: context.usage(),
        warnings: outcome.warnings.into_iter().map(warning).collect(),
    }
}

fn document(view: DocumentView) -> DocumentBlock {
    DocumentBlock {
        doc_id: view.doc_id.0,
        canonical_url: view.canonical_url,
        source_url: view.source_url,
        title: view.title,
        meta_description: view.meta_description,
        headings: view.headings,
        content_digest: view.content_digest,
        latest_capture_id: view.latest_capture_id.map(|id| id.0),
        published_at: view.published_at.map(rfc3339),
        first_seen_at: rfc3339(view.first_seen_at),
        last_seen_at: rfc3339(view.last_seen_at),
    }
}

fn content(view: ContentView) -> Content {
    Content {
        selection: match view.selection {
            app::documents::Selection::None => Selection::None,
            app::documents::Selection::QueryRelevant => Selection::QueryRelevant,
            app::documents::Selection::TopPassages => Selection::TopPassages,
            app::documents::Selection::PassageIds => Selection::PassageIds,
            app::documents::Selection::FullDocument => Selection::FullDocument,
        },
        format: format(view.format),
        text: view.text,
        truncated: view.truncated,
        char_count: wire_int(view.char_count),
        start_char: wire_int(view.start_char),
    }
}

fn format(format: app::documents::ContentFormat) -> ContentFormat {
    match format {
        app::documents::ContentFormat::Text => ContentFormat::Text,
        app::documents::ContentFormat::Markdown => ContentFormat::Markdown,
    }
}

fn passage(view: PassageView) -> Passage {
    let (char_start, char_end) = view.chars.map(|(start, end)| (wire_int(start), wire_int(end))).unzip();
    Passage {
        passage_id: view.passage_id.0,
        doc_id: view.doc_id.0,
        ordinal: i64::from(view.ordinal),
        text: view.text,
        char_start,
        char_end,
        section_heading: view.section_heading,
        section_path: (!view.section_path.is_empty()).then_some(view.section_path),
    }
}

fn capture(view: CaptureView) -> CaptureEntry {
    CaptureEntry {
        capture_id: view.capture_id.0,
        capture_time: rfc3339(view.capture_time),
        content_digest: view.content_digest,
        content_format: Some(format(view.format)),
    }
}

fn reason_details(reason: UnreadableReason) -> Map<String, Value> {
    let mut details = Map::from_iter([("reason".to_owned(), reason.as_str().into())]);
    if let Some(status) = reason.status() {
        details.insert("status".to_owned(), status.into());
    }
    details
}

fn warning(warning: ReadWarning) -> Warning {
    let (code, message, details) = match warning {
        ReadWarning::ContentUnavailable { reason: None } => {
            (WarningCode::ContentUnavailable, "the document has no content".to_owned(), Value::Null)
        }
        ReadWarning::ContentUnavailable { reason: Some(reason) } => (
            WarningCode::ContentUnavailable,
            format!("the content could not be fetched: {reason}"),
            Value::Object(reason_details(reason)),
        ),
        ReadWarning::StaleContent { capture_time, reason } => {
            let capture_time = rfc3339(capture_time);
            let message = format!("the content is as of {capture_time} and could not be read again: {reason}");
            let mut details = reason_details(reason);
            details.insert("capture_time".to_owned(), capture_time.into());
            (WarningCode::StaleContent, message, Value::Object(details))
        }
        ReadWarning::NoMatch => {
            (WarningCode::NoMatch, "no passage of the document matches the query".to_owned(), Value::Null)
        }
        ReadWarning::ContentTruncated { field, max_chars } => (
            WarningCode::ContentTruncated,
            format!("the content is longer than the {max_chars} characters of {field}"),
            json!({"field": field, "max_chars": max_chars}),
        ),
        ReadWarning::StaleRange { requested, latest } => (
            WarningCode::StaleRange,
            "the range was read from the latest capture, which is not the requested one".to_owned(),
            json!({"requested_capture_id": requested.0, "latest_capture_id": latest.0}),
        ),
        ReadWarning::StalePassageIds { passage_ids } => (
            WarningCode::StalePassageId,
            format!("{} of the requested passages are not in the latest capture", passage_ids.len()),
            json!({"passage_ids": passage_ids}),
        ),
    };
    let details = match details {
        Value::Object(details) => details,
        _ => Map::new(),
    };
    Warning { code, message, details }
}
