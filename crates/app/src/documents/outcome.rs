//! Assembly of the outcome from what is stored.

use docstore::{Capture, CaptureHead, Document};
use ingest::clock::to_date_time;
use model::{CaptureFormat, Collection};
use retrieval_core::url::parse_workspace_url;

use super::captured_text::CapturedText;
use super::content::Slice;
use super::rendered::Rendered;
use super::{
    CaptureView, ContentFormat, DocumentView, ReadOutcome, ReadRequest, ReadWarning, Selection, Target, Unread,
};
use super::{content, passages, returned, selection};

/// Builds the outcome. `has_text` is false for a capture without content. `failure` is the reason that a page which should have been fetched could not be read.
pub fn outcome(
    document: &Document,
    reading: Option<&CapturedText>,
    has_text: bool,
    failure: Option<Unread>,
    request: &ReadRequest,
) -> ReadOutcome {
    let mut view = view(document, reading.map(|reading| &reading.capture), request);
    let Some(reading) = reading else { return without_capture(view, failure, request) };
    let mut warnings = Vec::new();
    let capture = capture_view(&reading.capture);
    let has_text = document.collection != Collection::Web || has_text;
    // A snippet cannot stand in for the whole page.
    let is_partial = request.needs_whole_page() && reading.capture.format.is_snippet();
    let is_available = has_text && !(failure.is_some() && is_partial);
    let stale = failure.filter(|_| is_available);
    if let Some(reason) = stale {
        warnings.push(ReadWarning::StaleContent { capture_time: capture.capture_time, reason });
    } else if !is_available && !request.include.metadata_only() {
        warnings.push(ReadWarning::ContentUnavailable { reason: failure });
    }
    let rendered = Rendered::new(reading, document.mime.as_deref(), request.format);
    let chosen = selection::choose(&rendered, document.language.as_deref(), request, &mut warnings);
    let has_match = !warnings.contains(&ReadWarning::NoMatch);
    let slice = if request.wants_content() || content::is_limited(request) {
        content::slice(&rendered, &chosen, request)
    } else {
        Slice::default()
    };
    // With the selection `none` a range has no effect.
    if is_available && has_match && request.wants_text() && request.selection != Selection::None {
        warnings.extend(content::stale_range(request, capture.capture_id));
    }
    let content =
        (is_available && has_match && request.wants_content()).then(|| content::view(&slice, request, &mut warnings));
    let returned = returned::passages(&rendered, &chosen, &slice, request);
    // Without a match the outline is all that there is to go on with.
    if has_match && let Some(headings) = returned::headings(&rendered, &returned, &slice, request) {
        view.headings = headings;
    }
    let passages = request.include.passages.then(|| {
        let offsets = request.include_offsets && capture.format == ContentFormat::Markdown;
        // The list alone is limited: the headings are those of the whole returned text.
        let listed = returned.len().min(request.max_passages.unwrap_or(usize::MAX));
        passages::views(&reading.excerpt, &returned[..listed], offsets)
    });
    ReadOutcome {
        document: view,
        content,
        passages,
        capture_history: request.include.capture_history.then(|| vec![capture.clone()]),
        capture: Some(capture),
        warnings,
    }
}

/// States the latest capture, if that is not the one that was read. A range of the latest one is not stale.
pub fn with_latest(mut outcome: ReadOutcome, latest: Option<CaptureHead>) -> ReadOutcome {
    let Some(latest) = latest else { return outcome };
    outcome.document.latest_capture_id = Some(latest.capture_id);
    outcome.document.content_digest = Some(latest.content_digest.clone());
    outcome.warnings.retain_mut(|warning| {
        let ReadWarning::StaleRange { requested, latest: stated } = warning else { return true };
        *stated = latest.capture_id;
        *requested != latest.capture_id
    });
    outcome.capture_history = outcome.capture_history.map(|_| vec![head_view(latest)]);
    outcome
}

/// Returns the `doc` block alone, with a warning unless only metadata was requested.
fn without_capture(document: DocumentView, failure: Option<Unread>, request: &ReadRequest) -> ReadOutcome {
    let is_complete = request.include.metadata_only();
    let warnings = if is_complete { Vec::new() } else { vec![ReadWarning::ContentUnavailable { reason: failure }] };
    ReadOutcome { document, content: None, passages: None, capture_history: None, capture: None, warnings }
}

fn view(document: &Document, capture: Option<&Capture>, request: &ReadRequest) -> DocumentView {
    let source_url = match &request.target {
        // Several addresses lead to the same page. Those of an operator's import are part of it.
        Target::Url(url) if !document.listed => url.trim(),
        Target::Url(_) | Target::DocId(_) => &document.source_url,
    };
    DocumentView {
        doc_id: document.doc_id,
        canonical_url: document.canonical_url.clone(),
        name: parse_workspace_url(&document.canonical_url).map(|(_, name)| name),
        source_url: source_url.to_owned(),
        title: document.title.clone(),
        meta_description: document.description.clone(),
        language: document.language.clone(),
        headings: capture.map(|capture| capture.headings.0.clone()).unwrap_or_default(),
        content_digest: capture.map(|capture| capture.content_digest.clone()),
        latest_capture_id: capture.map(|capture| capture.capture_id),
        published_at: document.published_at.map(to_date_time),
        first_seen_at: to_date_time(document.first_seen_at),
        last_seen_at: to_date_time(document.last_seen_at),
    }
}

fn capture_view(capture: &Capture) -> CaptureView {
    head_view(CaptureHead {
        capture_id: capture.capture_id,
        captured_at: capture.captured_at,
        format: capture.format,
        content_digest: capture.content_digest.clone(),
    })
}

fn head_view(head: CaptureHead) -> CaptureView {
    CaptureView {
        capture_id: head.capture_id,
        capture_time: to_date_time(head.captured_at),
        content_digest: head.content_digest,
        format: match head.format {
            CaptureFormat::Text => ContentFormat::Text,
            CaptureFormat::Markdown => ContentFormat::Markdown,
        },
    }
}
