//! Reader for Rich Text Format (Microsoft, specification 1.9.1). It covers text, character sets and the few paragraph
//! properties that carry structure.

mod charset;
mod field;
mod fonts;
mod marker;
mod paragraph;
mod reader;
mod symbol;
mod token;

use crate::{ExtractError, ExtractRequest, Extracted, blocks, language, magic, names, tidy};

/// Reads one document.
pub(crate) fn read(request: &ExtractRequest, bytes: &[u8]) -> Result<Extracted, ExtractError> {
    let start = bytes.iter().take(64).position(|byte| !byte.is_ascii_whitespace() && *byte < 0x80).unwrap_or(0);
    if !bytes[start..].starts_with(b"{\\rtf") {
        return Err(magic::wrong_type(request.kind, bytes));
    }
    let document = reader::read(&bytes[start..])?;
    let markdown = tidy::markdown(&blocks::write(&document.blocks));
    Ok(Extracted {
        title: document.title.as_deref().and_then(names::one_line).or_else(|| names::title_of(&request.name)),
        author: document.author.as_deref().and_then(names::one_line),
        description: document.subject.as_deref().and_then(names::one_line),
        language: language::detect(&markdown),
        published_at: document.created,
        markdown,
        ..Extracted::default()
    })
}
