//! Web pages: the main content as markdown.

mod charset;
mod hidden;
mod links;
mod metadata;
mod shape;
mod strip;
mod whole;

use dom_query::Document;
use rs_trafilatura::Options;

use crate::{ExtractError, ExtractRequest, Extracted, language, magic, names, tidy};

/// Pages above this are read as plain text: parsing a page takes some ten times its size in memory.
const MAX_TREE_BYTES: usize = 8 << 20;
/// Pages nested deeper are read as plain text: the time that content extraction takes grows with the square of the
/// depth (6 s at 5,000), and no page made by people comes near.
const MAX_DEPTH: usize = 400;
/// Under this many words the extractor is taken to have missed, and the whole page is read where that gives more.
const FEW_WORDS: usize = 60;

/// One page. Its main content where there is any to tell apart, else all that is on it.
pub(crate) fn read(request: &ExtractRequest, bytes: &[u8]) -> Result<Extracted, ExtractError> {
    if magic::is_disguised_text(bytes) {
        return Err(magic::wrong_type(request.kind, bytes));
    }
    let source = charset::decode(bytes).ok_or_else(|| magic::wrong_type(request.kind, bytes))?;
    if source.len() > MAX_TREE_BYTES || shape::depth(&source, MAX_DEPTH) > MAX_DEPTH {
        return Ok(read_flat(request, &source));
    }
    let page = Document::from(source.as_str());
    let base = links::base(&page, request.base_url.as_deref());
    let metadata = metadata::read(&page, base.as_ref());
    let hidden_text = hidden::remove(&page);
    links::make_absolute(&page, base.as_ref());
    let cleaned = page.html();

    let options = Options {
        output_markdown: true,
        include_links: true,
        include_tables: true,
        include_formatting: true,
        include_images: true,
        url: request.base_url.clone(),
        ..Options::default()
    };
    let found = rs_trafilatura::extract_with_options(&cleaned, &options)
        .map_err(|error| ExtractError::corrupt(format!("unreadable page: {error}")))?;
    let mut markdown = tidy::markdown(found.content_markdown.as_deref().unwrap_or(&found.content_text));
    if tidy::words(&markdown) < FEW_WORDS {
        let whole = tidy::markdown(&whole::convert(&page)?);
        if tidy::words(&whole) > tidy::words(&markdown) {
            markdown = whole;
        }
    }
    let said = found.metadata;
    Ok(Extracted {
        title: metadata
            .title
            .or_else(|| said.title.as_deref().and_then(names::one_line))
            .or_else(|| names::title_of(&request.name)),
        author: metadata.author.or_else(|| said.author.as_deref().and_then(names::one_line)),
        description: metadata.description.or_else(|| said.description.as_deref().and_then(names::one_line)),
        language: metadata.language.or_else(|| language::detect(&markdown)),
        published_at: metadata.published_at.or_else(|| said.date.map(|date| date.timestamp_millis())),
        canonical_link: metadata.canonical_link,
        labels: if hidden_text { vec!["hidden_text".to_owned()] } else { Vec::new() },
        markdown,
    })
}

/// A page too large or too deep to be taken apart: its text, by a linear scan.
fn read_flat(request: &ExtractRequest, source: &str) -> Extracted {
    let (text, title) = strip::text(source);
    Extracted {
        title: title.as_deref().and_then(names::one_line).or_else(|| names::title_of(&request.name)),
        language: language::detect(&text),
        markdown: text,
        ..Extracted::default()
    }
}
