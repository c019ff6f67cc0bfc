//! Splitting of a document into passages: the units that are ranked, quoted and cited.
//!
//! Passages are contiguous and do not overlap: concatenated they are the content, byte for byte. They break at
//! headings, then between blocks, list items, sentences, lines and words, and aim at [`MIN_CHARS`] to [`MAX_CHARS`]
//! characters. Shorter passages end a section or are one: sections never share a passage, because a passage cites one
//! heading, and a hit for a small section must cite the heading of that section.
//!
//! A fenced code block or a table row of up to [`ATOM_CHARS`] characters and a word of up to [`WORD_CHARS`] are never
//! split; if larger than a passage, each becomes a passage of its own. Beyond these limits they are data rather than
//! text, and are split like text (code and tables at line ends if possible).

mod pack;
mod pages;
mod sections;

use std::ops::Range;

use model::{DocId, PassageId};

pub use pages::pages_of;
use uuid::Uuid;

use crate::markdown::{self, Kind};

/// Minimum length. A shorter passage ends where its section ends or an indivisible block begins.
pub const MIN_CHARS: usize = 600;
/// Maximum length. Only an indivisible block makes a passage longer.
pub const MAX_CHARS: usize = 1_200;
/// Maximum length of a code block or table row that is kept whole: some thousand lines of code.
pub const ATOM_CHARS: usize = 32_768;
/// Maximum length of a word that is kept whole.
pub const WORD_CHARS: usize = 4_000;

/// Location of a passage in its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassageSpan {
    /// Position among the passages of its document, from 0.
    pub ordinal: u32,
    /// Byte range in the content.
    pub bytes: Range<usize>,
    /// Range in characters (Unicode scalar values).
    pub chars: Range<usize>,
    /// Heading of the section as readable text; `None` before the first heading.
    pub section_heading: Option<String>,
    /// Path of headings down to that of the section, outermost first; empty before the first heading.
    pub section_path: Vec<String>,
}

impl PassageSpan {
    /// Returns the text of the passage from the content it was split from. Empty if the content is shorter.
    pub fn text<'a>(&self, content: &'a str) -> &'a str {
        content.get(self.bytes.clone()).unwrap_or_default()
    }
}

/// Splits `content` (Markdown or plain text) into passages. Empty content has none.
///
/// Linear in the length of any content.
pub fn split(content: &str) -> Vec<PassageSpan> {
    split_pages(content, &[])
}

/// Splits the content of a document with pages: passages also end where a page starts, unless that is inside a sentence.
///
/// `page_starts`: the byte of `content` at which each page starts, rising; white space there belongs to the page before.
pub fn split_pages(content: &str, page_starts: &[usize]) -> Vec<PassageSpan> {
    let mut passages = Vec::new();
    let mut start_char = 0;
    let mut path: Vec<(u8, String)> = Vec::new();
    for section in pages::cut(content, sections::sections(content), page_starts) {
        let (breaks, begins_whole) = (&section.breaks, section.begins_whole);
        enter(&mut path, section.headings);
        // An empty heading ends the previous section and adds no name.
        let section_path: Vec<String> =
            path.iter().map(|(_, heading)| heading).filter(|heading| !heading.is_empty()).cloned().collect();
        for (bytes, length) in pack::pack(content, section.bytes, begins_whole, breaks) {
            let chars = start_char..start_char + length;
            start_char = chars.end;
            passages.push(PassageSpan {
                ordinal: u32::try_from(passages.len()).unwrap_or(u32::MAX),
                bytes,
                chars,
                section_heading: section_path.last().cloned(),
                section_path: section_path.clone(),
            });
        }
        enter(&mut path, section.joined_headings);
    }
    passages
}

/// Returns true if a passage with this text and section path begins with the heading of its section. What looks like a heading at the
/// start of another passage is a line of a code block that was split.
pub fn begins_section(text: &str, section_path: &[String]) -> bool {
    let first = markdown::lines(text).next().filter(|line| matches!(line.kind, Kind::Heading { .. }));
    first.is_some_and(|line| section_path.contains(&sections::heading_in_path(&text[line.range])))
}

/// Updates the path by `headings`: each replaces those of its level and deeper.
fn enter(path: &mut Vec<(u8, String)>, headings: Vec<(u8, String)>) {
    for (level, heading) in headings {
        path.truncate(path.iter().position(|(outer, _)| *outer >= level).unwrap_or(path.len()));
        path.push((level, heading));
    }
}

/// Returns the id of a passage: UUID version 5 of the content digest and the ordinal, in the namespace of the document.
/// Equal content yields equal ids, different content different ones.
pub fn passage_id(doc_id: DocId, content_digest: &str, ordinal: u32) -> PassageId {
    PassageId(Uuid::new_v5(&doc_id.0, format!("{content_digest}#{ordinal}").as_bytes()))
}

#[cfg(test)]
mod tests;
