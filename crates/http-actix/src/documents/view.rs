//! Conversion of a read document to the wire.

use api_types::timestamp::rfc3339;
use api_types::{
    CaptureEntry, Content, ContentFormat, DocumentBlock, DocumentProvenance, Passage, ReadDocument, Selection, Warning,
    WarningCode,
};
use app::documents::{CaptureView, ContentView, DocumentView, PassageView, ReadOutcome, ReadWarning, Unread};
use serde_json::{Map, Value, json};

use crate::numbers::wire_int;

/// Converts the outcome of a read.
pub(crate) fn read_document(outcome: ReadOutcome) -> ReadDocument {
    ReadDocument {
        doc: document(outcome.document),
        content: outcome.content.map(content),
        passages: outcome.passages.map(|passages| passages.into_iter().map(passage).collect()),
        provenance: outcome.capture.map(|capture| DocumentProvenance {
            capture_id: capture.capture_id.0,
            capture_time: rfc3339(capture.capture_time),
        }),
        capture_history: outcome.capture_history.map(|captures| captures.into_iter().map(capture).collect()),
        warnings: outcome.warnings.into_iter().map(warning).collect(),
    }
}

fn document(view: DocumentView) -> DocumentBlock {
    DocumentBlock {
        doc_id: view.doc_id.0,
        canonical_url: view.canonical_url,
        name: view.name,
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

fn reason_details(reason: Unread) -> Map<String, Value> {
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
