//! `retrieval read`.

use retrieval_client::types::validation::parse_uuid;
use retrieval_client::types::{
    Content, ContentRange, ContentRequest, DocumentBlock, DocumentProvenance, DocumentRequest, DocumentResult,
    DocumentTarget, DocumentsRequest, DocumentsResponse, DocumentsShape, ErrorCode, ResponseBudget, Section, Selection,
    Warning, WarningCode,
};
use retrieval_client::{ApiError, Client, Error};

use super::print_warnings;
use crate::cli::Read;
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::terminal::text::one_line;

/// Default page size in characters: about 5,000 tokens.
const DEFAULT_MAX_CHARS: i64 = 20_000;
/// Page size of `--all` in characters: few requests, each well below any limit.
const ALL_PAGE_CHARS: i64 = 200_000;

pub async fn run(arguments: &Read, client: &Client, terminal: &Terminal) -> Result<(), Failure> {
    let [document] = &arguments.documents[..] else { return several(arguments, client, terminal).await };
    let request = request(arguments, document)?;
    if arguments.all {
        return all(arguments, request, client, terminal).await;
    }
    let answer = client.read_document(&request).await?;
    if terminal.json {
        terminal.json(&answer.raw)?;
        return if answer.content.is_some() { Ok(()) } else { Err(no_content(&answer.doc, &answer.warnings)) };
    }
    print_warnings(&answer.warnings, terminal);
    let Some(content) = &answer.content else { return Err(no_content(&answer.doc, &answer.warnings)) };
    terminal.note(&heading(&answer.doc));
    terminal.content(&content.text)?;
    if content.truncated {
        terminal.note(&after_truncated(content, answer.provenance.as_ref()));
    }
    Ok(())
}

/// Returns the advice after truncated content. Only a whole document continues at an offset: the next passage of a selection is elsewhere.
fn after_truncated(content: &Content, provenance: Option<&DocumentProvenance>) -> String {
    if content.selection != Selection::FullDocument {
        return "truncated: raise --max-chars for more of the selected passages".to_owned();
    }
    let next = content.start_char.saturating_add(content.char_count);
    let capture = provenance.map(|found| format!(" --capture {}", found.capture_id)).unwrap_or_default();
    format!("truncated: continue with --start {next}{capture}, or use --all")
}

/// Reads several documents in one request. Prints those that were read, each after a line with its title and address.
async fn several(arguments: &Read, client: &Client, terminal: &Terminal) -> Result<(), Failure> {
    if arguments.all || arguments.start.is_some() {
        return Err(Failure::Usage("--all and --start need a single document".to_owned()));
    }
    let requests: Vec<DocumentRequest> =
        arguments.documents.iter().map(|document| request(arguments, document)).collect::<Result<_, _>>()?;
    let targets = requests.iter().map(|request| DocumentTarget {
        doc_id: request.doc_id.clone(),
        canonical_url: request.canonical_url.clone(),
        capture_id: None,
    });
    let Some(common) = requests.first().cloned() else { return Ok(()) };
    let budget = ResponseBudget { max_chars_total: common.content.max_chars, ..ResponseBudget::default() };
    let batch = DocumentsRequest {
        documents: targets.collect(),
        include: common.include,
        query: common.query,
        content: ContentRequest { max_chars: None, ..common.content },
        max_age_seconds: common.max_age_seconds,
        cache_only: common.cache_only,
        timeout_ms: common.timeout_ms,
        response: DocumentsShape { budget },
        ..DocumentsRequest::default()
    };
    let answer = client.read_documents(&batch).await?;
    let failed = answer.results.iter().filter(|result| text(result).is_none()).count();
    if terminal.json {
        terminal.json(&answer.raw)?;
    } else {
        for (result, address) in answer.results.iter().zip(&arguments.documents) {
            print_result(result, address, terminal)?;
        }
    }
    let message = format!("{failed} of {} documents could not be read", answer.results.len());
    match failed {
        0 => Ok(()),
        count if count == answer.results.len() => Err(none_read(&answer, message)),
        _ => Err(Failure::Partial(message)),
    }
}

/// Returns the failure of a request that read no document: the one that the first document alone would have given.
fn none_read(answer: &DocumentsResponse, message: String) -> Failure {
    let status_of = |code: &str| ErrorCode::ALL.into_iter().find(|known| known.as_str() == code).map(ErrorCode::status);
    let first = answer.results.first().and_then(|result| result.error.as_ref());
    let Some((error, status)) = first.and_then(|error| Some((error, status_of(&error.code)?))) else {
        return Failure::NotFound(message);
    };
    Failure::Client(Error::Api(Box::new(ApiError {
        status,
        code: error.code.clone(),
        message: format!("{message}: {}", error.message),
        details: error.details.clone(),
        request_id: answer.request_id.to_string(),
        rate_limit: None,
    })))
}

fn text(result: &DocumentResult) -> Option<&str> {
    let content = result.document.as_ref()?.content.as_ref()?;
    Some(&content.text)
}

fn print_result(result: &DocumentResult, address: &str, terminal: &Terminal) -> Result<(), Failure> {
    if let Some(error) = &result.error {
        terminal.error(&format!("{}: {} ({})", one_line(address), one_line(&error.message), one_line(&error.code)));
    }
    let Some(document) = &result.document else { return Ok(()) };
    print_warnings(&document.warnings, terminal);
    match text(result) {
        Some(text) => {
            terminal.print(&format!("==> {} <==\n", heading(&document.doc)))?;
            terminal.content(text)
        }
        None => {
            terminal.error(&no_content(&document.doc, &document.warnings).to_string());
            Ok(())
        }
    }
}

/// Reads the whole document. With `--json`, prints each response on its own line.
async fn all(arguments: &Read, request: DocumentRequest, client: &Client, terminal: &Terminal) -> Result<(), Failure> {
    let page_chars = arguments.max_chars.unwrap_or(ALL_PAGE_CHARS);
    if terminal.json {
        let mut pages = client.pages(request, page_chars);
        while let Some(page) = pages.next_page().await? {
            terminal.json(&page.raw)?;
            if page.content.is_none() {
                return Err(no_content(&page.doc, &page.warnings));
            }
        }
        return Ok(());
    }
    // Prints only at the end, because a document that changes meanwhile is read again from the start.
    let whole = client.read_whole(&request, page_chars).await?;
    let expected = |code| code != WarningCode::ContentTruncated;
    let warnings: Vec<_> = whole.first.warnings.iter().filter(|warning| expected(warning.code)).cloned().collect();
    print_warnings(&warnings, terminal);
    let Some(text) = &whole.text else { return Err(no_content(&whole.first.doc, &whole.first.warnings)) };
    terminal.note(&heading(&whole.first.doc));
    terminal.content(text)
}

fn request(arguments: &Read, document: &str) -> Result<DocumentRequest, Failure> {
    let mut request = DocumentRequest::default();
    let document = document.trim();
    if parse_uuid(document).is_some() {
        request.doc_id = Some(document.to_owned());
    } else if document.contains("://") {
        request.canonical_url = Some(document.to_owned());
    } else {
        return Err(Failure::Usage(format!("`{document}` is not a doc_id or URL: add https:// to a URL")));
    }
    request.query = arguments.query.clone();
    // The passages would repeat the content.
    request.include = Some(vec![Section::Content]);
    let max_chars = arguments.max_chars.unwrap_or(DEFAULT_MAX_CHARS);
    let range = arguments.start.map(|start_char| ContentRange {
        start_char,
        max_chars: Some(max_chars),
        capture_id: arguments.capture.clone(),
    });
    let selection = if arguments.query.is_some() { Selection::QueryRelevant } else { Selection::FullDocument };
    // With --all, the client sets the limit of each page.
    let max_chars = (!arguments.all).then_some(max_chars);
    let (format, max_passages) = (arguments.format, arguments.max_passages);
    request.content = ContentRequest { selection, format, max_chars, max_passages, range, ..Default::default() };
    request.max_age_seconds = arguments.max_age;
    request.cache_only = arguments.cached;
    request.timeout_ms = arguments.timeout_ms;
    Ok(request)
}

fn heading(doc: &DocumentBlock) -> String {
    let title = doc.title.as_deref().map(|title| format!("{}  ", one_line(title))).unwrap_or_default();
    format!("{title}{}", one_line(&doc.canonical_url))
}

fn no_content(doc: &DocumentBlock, warnings: &[Warning]) -> Failure {
    let url = one_line(&doc.canonical_url);
    let is_unmatched = warnings.iter().any(|warning| warning.code == WarningCode::NoMatch);
    Failure::NotFound(match is_unmatched {
        true => format!("no passage of `{url}` matches the query: rephrase it, or read without --query"),
        false => format!("`{url}` has no readable content"),
    })
}
