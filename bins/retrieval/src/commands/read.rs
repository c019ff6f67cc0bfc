//! `retrieval read`.

use retrieval_client::Client;
use retrieval_client::types::validation::parse_uuid;
use retrieval_client::types::{
    ContentRange, ContentRequest, DocumentBlock, DocumentRequest, DocumentResponse, Selection, WarningCode,
};

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
    let request = request(arguments)?;
    if arguments.all {
        return all(arguments, request, client, terminal).await;
    }
    let answer = client.read_document(&request).await?;
    if terminal.json {
        terminal.json(&answer.raw)?;
        return if answer.content.is_some() { Ok(()) } else { Err(no_content(&answer)) };
    }
    print_warnings(&answer.warnings, terminal);
    let Some(content) = &answer.content else { return Err(no_content(&answer)) };
    terminal.note(&heading(&answer.doc));
    terminal.content(&content.text)?;
    if content.truncated {
        let next = content.start_char + content.char_count;
        let capture = answer.provenance.as_ref().map(|found| format!(" --capture {}", found.capture_id));
        let capture = capture.unwrap_or_default();
        terminal.note(&format!("truncated: continue with --start {next}{capture}, or use --all"));
    }
    Ok(())
}

/// Reads the whole document. With `--json`, prints each response on its own line.
async fn all(arguments: &Read, request: DocumentRequest, client: &Client, terminal: &Terminal) -> Result<(), Failure> {
    let page_chars = arguments.max_chars.unwrap_or(ALL_PAGE_CHARS);
    if terminal.json {
        let mut pages = client.pages(request, page_chars);
        while let Some(page) = pages.next_page().await? {
            terminal.json(&page.raw)?;
            if page.content.is_none() {
                return Err(no_content(&page));
            }
        }
        return Ok(());
    }
    // Prints only at the end, because a document that changes meanwhile is read again from the start.
    let whole = client.read_whole(&request, page_chars).await?;
    let expected = |code| code != WarningCode::ContentTruncated;
    let warnings: Vec<_> = whole.first.warnings.iter().filter(|warning| expected(warning.code)).cloned().collect();
    print_warnings(&warnings, terminal);
    let Some(text) = &whole.text else { return Err(no_content(&whole.first)) };
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
        return Err(Failure::Usage(format!("`{document}` is not a doc_id or URL: add https:// to a URL")));
    }
    request.query = arguments.query.clone();
    let max_chars = arguments.max_chars.unwrap_or(DEFAULT_MAX_CHARS);
    let range = arguments.start.map(|start_char| ContentRange {
        start_char,
        max_chars: Some(max_chars),
        capture_id: arguments.capture.clone(),
    });
    let selection = if arguments.query.is_some() { Selection::QueryRelevant } else { Selection::FullDocument };
    // With --all, the client sets the limit of each page.
    let max_chars = (!arguments.all).then_some(max_chars);
    request.content = ContentRequest { selection, format: arguments.format, max_chars, range, ..Default::default() };
    Ok(request)
}

fn heading(doc: &DocumentBlock) -> String {
    let title = doc.title.as_deref().map(|title| format!("{}  ", one_line(title))).unwrap_or_default();
    format!("{title}{}", one_line(&doc.canonical_url))
}

fn no_content(response: &DocumentResponse) -> Failure {
    let url = one_line(&response.doc.canonical_url);
    let is_unmatched = response.warnings.iter().any(|warning| warning.code == WarningCode::NoMatch);
    Failure::NotFound(match is_unmatched {
        true => format!("no passage of `{url}` matches the query: rephrase it, or read without --query"),
        false => format!("`{url}` has no readable content"),
    })
}
