//! Conversion of requests for documents.

use std::time::Duration;

use api_types::validation::parse_uuid;
use api_types::{ContentFormat, ContentRequest, DocumentRequest, DocumentTarget, DocumentsRequest, Section, Selection};
use app::Deadline;
use app::documents::{Include, Range, ReadRequest, Target};
use model::{CaptureId, DocId};

use crate::failure::Failure;

/// Converts a request body, whose values are validated already. The time of a limited request starts now.
pub(crate) fn convert(body: DocumentRequest) -> Result<ReadRequest, Failure> {
    let target = match (body.doc_id.as_deref().and_then(parse_uuid), body.canonical_url) {
        (Some(doc_id), _) => Target::DocId(DocId(doc_id)),
        (None, Some(url)) => Target::Url(url),
        (None, None) => {
            return Err(Failure::invalid("doc_id", "either doc_id or canonical_url is required"));
        }
    };
    let ContentRequest { selection, format, max_chars, max_passages, include_offsets, passage_ids, range } =
        body.content;
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
        max_passages: max_passages.and_then(|count| usize::try_from(count).ok()),
        whole_page: false,
        max_age: body.max_age_seconds.and_then(positive).map(Duration::from_secs),
        cache_only: body.cache_only,
        capture_id: body.capture_id.as_deref().and_then(parse_uuid).map(CaptureId),
        deadline: deadline(body.timeout_ms),
    })
}

/// Returns the requests for the single documents. Each repeats the whole body, and is made when its turn comes.
pub(crate) fn single(body: DocumentsRequest) -> impl Iterator<Item = DocumentRequest> {
    let DocumentsRequest { documents, include, query, content, max_age_seconds, cache_only, timeout_ms, .. } = body;
    let request = move |DocumentTarget { doc_id, canonical_url, capture_id }| DocumentRequest {
        doc_id,
        canonical_url,
        capture_id,
        include: include.clone(),
        query: query.clone(),
        content: content.clone(),
        max_age_seconds,
        cache_only,
        timeout_ms,
        ..DocumentRequest::default()
    };
    documents.into_iter().map(request)
}

/// Starts the time of a request.
pub(crate) fn deadline(timeout_ms: Option<i64>) -> Deadline {
    let time = timeout_ms.and_then(positive).map(Duration::from_millis);
    time.map(Deadline::after).unwrap_or_default()
}

/// Converts a number that is known not to be negative.
pub(crate) fn positive(number: i64) -> Option<u64> {
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
