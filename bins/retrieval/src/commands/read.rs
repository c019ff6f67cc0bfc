//! `retrieval read`.

use retrieval_client::Client;
use retrieval_client::types::validation::parse_uuid;
use retrieval_client::types::{
    ContentRange, ContentRequest, DocumentBlock, DocumentRequest, DocumentResponse, Selection,
};

use super::tell;
use crate::cli::Read;
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::terminal::text::one_line;

/// What is read at a time when nothing else is said: some 5,000 tokens.
const PAGE: i64 = 20_000;
/// What `--all` asks for at a time: few requests, each well within any limit.
const LARGE_PAGE: i64 = 200_000;

pub async fn run(arguments: &Read, client: &Client, terminal: &Terminal) -> Result<(), Failure> {
    let request = request(arguments)?;
    if arguments.all {
        return all(arguments, request, client, terminal).await;
    }
    let answer = client.read_document(&request).await?;
    if terminal.json {
        return terminal.json(&answer.raw);
    }
    tell(&answer.warnings, terminal);
    let Some(content) = &answer.content else { return Err(without_content(&answer)) };
    terminal.note(&heading(&answer.doc));
    terminal.content(&content.text)?;
    if content.truncated {
        let next = content.start_char + content.char_count;
        let capture = answer.provenance.as_ref().map(|found| format!(" --capture {}", found.capture_id));
        let capture = capture.unwrap_or_default();
        terminal.note(&format!("there is more: --start {next}{capture}, or --all"));
    }
    Ok(())
}

/// With `--json`, the service's answers as they come, one a line.
async fn all(arguments: &Read, request: DocumentRequest, client: &Client, terminal: &Terminal) -> Result<(), Failure> {
    let page_chars = arguments.max_chars.unwrap_or(LARGE_PAGE);
    if terminal.json {
        let mut pages = client.pages(request, page_chars);
        while let Some(page) = pages.next_page().await? {
            terminal.json(&page.raw)?;
        }
        return Ok(());
    }
    // Nothing is shown before the end: a document that changes meanwhile is begun again.
    let whole = client.read_whole(&request, page_chars).await?;
    let expected = |code| code != retrieval_client::types::WarningCode::ContentTruncated;
    let warnings: Vec<_> = whole.first.warnings.iter().filter(|warning| expected(warning.code)).cloned().collect();
    tell(&warnings, terminal);
    let Some(text) = &whole.text else { return Err(without_content(&whole.first)) };
    terminal.note(&heading(&whole.first.doc));
    terminal.content(text)
}

fn request(arguments: &Read) -> Result<DocumentRequest, Failure> {
    let mut request = DocumentRequest::default();
    let document = arguments.document.trim();
    if parse_uuid(document).is_some() {
        request.doc_id = Some(document.to_owned());
    } else if document.contains("://") {
        request.canonical_url = Some(document.to_owned());
    } else {
        return Err(Failure::Usage(format!("`{document}` is neither a URL (https://...) nor a doc_id")));
    }
    request.query = arguments.query.clone();
    let max_chars = arguments.max_chars.unwrap_or(PAGE);
    let range = arguments.start.map(|start_char| ContentRange {
        start_char,
        max_chars: Some(max_chars),
        capture_id: arguments.capture.clone(),
    });
    let selection = if arguments.query.is_some() { Selection::QueryRelevant } else { Selection::FullDocument };
    // Pages bring their own limit.
    let max_chars = (!arguments.all).then_some(max_chars);
    request.content = ContentRequest { selection, format: arguments.format, max_chars, range, ..Default::default() };
    Ok(request)
}

fn heading(doc: &DocumentBlock) -> String {
    let title = doc.title.as_deref().map(|title| format!("{}  ", one_line(title))).unwrap_or_default();
    format!("{title}{}", one_line(&doc.canonical_url))
}

fn without_content(response: &DocumentResponse) -> Failure {
    Failure::NotFound(format!("`{}` has no content that could be read", one_line(&response.doc.canonical_url)))
}
