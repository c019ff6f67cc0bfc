use api_types::{
    ContentFormat, DocumentRequest, DocumentResponse, ErrorBody, Section, Selection, Warning, WarningCode,
};
use openapi::{Input, operations};
use serde_json::Value;

use super::limit;
use crate::answer::{self, Answer, Tail};
use crate::arguments::{self, Given};
use crate::backend::{Backend, Failure};

/// Default size of an answer in characters.
const DEFAULT_CHARS: usize = 20_000;

pub(super) async fn run<B: Backend>(arguments: Value, backend: &B) -> Result<Answer, Failure> {
    let Given { mut request, mut notes } = arguments::document(arguments)?;
    let content = &mut request.content;
    let requested = content.range.as_ref().and_then(|range| range.max_chars).or(content.max_chars);
    let limit = limit(requested, DEFAULT_CHARS, &mut notes);
    choose_sections(&mut request);
    bound_passages(&mut request);
    let content = &mut request.content;
    let is_best = matches!(content.selection, Selection::QueryRelevant | Selection::TopPassages);
    match content.range.as_mut().and_then(|range| range.max_chars.as_mut()) {
        Some(of_range) => *of_range = limit as i64,
        // Best passages without a limit are few; with one they would fill it.
        None if requested.is_none() && is_best => {}
        None => content.max_chars = Some(limit as i64),
    }
    let wants_text = content.selection != Selection::None
        && request.include.iter().flatten().any(|section| matches!(section, Section::Content | Section::Passages));
    let response = match wants_text && is_best {
        true => best_of_page(request, backend).await?,
        false => call(request, backend).await?,
    };
    if wants_text {
        check_readable(&response)?;
    }
    let mut tail = Tail::new(notes, &response.warnings);
    if response.warnings.iter().any(|warning| warning.code == WarningCode::NoMatch) {
        tail.next("no passage matches: call read_document without query to read the whole text");
    }
    answer::document(&response, limit, tail)
}

/// Reads the best passages of the page. If only the text of a search result is stored, which the model has seen, the
/// page is read again.
async fn best_of_page<B: Backend>(mut request: DocumentRequest, backend: &B) -> Result<DocumentResponse, Failure> {
    let is_fixed = request.cache_only || request.capture_id.is_some();
    let shows_captures = request.include.iter().flatten().any(|section| *section == Section::CaptureHistory);
    if !is_fixed && !shows_captures {
        request.include.get_or_insert_default().push(Section::CaptureHistory);
    }
    let mut response = call(request.clone(), backend).await?;
    let was_tried = response.warnings.iter().any(|warning| warning.code == WarningCode::StaleContent);
    if !is_fixed && !was_tried && is_search_result(&response) {
        request.max_age_seconds = Some(0);
        response = call(request, backend).await?;
    }
    if !shows_captures {
        response.capture_history = None;
    }
    Ok(response)
}

/// Returns true if the stored text is that of a search result: pages and files are markdown.
fn is_search_result(response: &DocumentResponse) -> bool {
    let latest = response.capture_history.iter().flatten().next();
    latest.is_some_and(|capture| capture.content_format == Some(ContentFormat::Text))
}

async fn call<B: Backend>(request: DocumentRequest, backend: &B) -> Result<DocumentResponse, Failure> {
    backend.call(Input::<operations::ReadDocument>::of_body(request)).await
}

/// Requests each text once: the passages of a whole document repeat its content.
fn choose_sections(request: &mut DocumentRequest) {
    if request.include.is_none() {
        let passages = request.content.selection != Selection::FullDocument || request.content.include_offsets;
        let text = if passages { Section::Passages } else { Section::Content };
        request.include = Some(vec![Section::Metadata, text]);
    }
}

/// Selects the first or best passages for a read of passages without a selection, which would return all of the document.
fn bound_passages(request: &mut DocumentRequest) {
    let Some(sections) = request.include.as_mut().filter(|sections| sections.contains(&Section::Passages)) else {
        return;
    };
    if request.content.selection == Selection::None {
        request.content.selection = Selection::TopPassages;
        // With that selection the content would repeat the passages.
        sections.retain(|section| *section != Section::Content);
    }
}

/// Refuses a document without any text, with the reason.
///
/// # Errors
/// `content_unavailable`, under the status of the operation, which did succeed.
pub(crate) fn check_readable(response: &DocumentResponse) -> Result<(), Failure> {
    let has_text = response.content.as_ref().is_some_and(|content| !content.text.is_empty())
        || response.passages.iter().flatten().next().is_some();
    let unavailable = response.warnings.iter().find(|warning| warning.code == WarningCode::ContentUnavailable);
    let Some(warning) = unavailable.filter(|_| !has_text) else { return Ok(()) };
    let error = ErrorBody {
        code: "content_unavailable".to_owned(),
        message: warning.message.clone(),
        details: warning.details.clone(),
    };
    Err(Failure { status: 200, error }
        .with("doc_id", response.doc.doc_id.to_string())
        .with("canonical_url", response.doc.canonical_url.clone())
        .with("next", advice(warning)))
}

/// Returns the best next step for the reason of a warning.
fn advice(warning: &Warning) -> &'static str {
    let status = warning.details.get("status").and_then(Value::as_u64);
    match (warning.reason().unwrap_or_default(), status) {
        ("http_status", Some(404 | 410)) => "the page does not exist: check the URL, or use another source",
        ("http_status", Some(401..=403)) => "the page is not public: use another source",
        ("http_status", Some(429 | 500..)) => "the host is failing: use another source, or try again later",
        ("robots", _) => "the site forbids automatic reading: use another source",
        ("timeout", _) => "the host did not answer in time: use another source, or try again later",
        ("unreachable", _) => "the host cannot be reached: check the URL, or use another source",
        ("too_large" | "unsupported_type" | "no_text" | "needs_ocr", _) => {
            "this document has no readable text: use another source; reading it again does not help"
        }
        _ => "use another source",
    }
}
