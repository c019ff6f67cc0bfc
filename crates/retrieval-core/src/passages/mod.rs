//! Splitting a document into passages: the pieces that are ranked, quoted and cited.
//!
//! The passages of a document follow one another without gap or overlap: put together they are the content, byte for
//! byte. They break at headings, then between blocks, list items, sentences, lines and words, and aim at
//! [`MIN_CHARS`] to [`MAX_CHARS`] characters. Shorter ones end a section or are one: a section never shares a passage
//! with another, because a passage cites one heading, and a hit for a small section must cite that section's.
//!
//! Never cut is a fenced code block or a table row up to [`ATOM_CHARS`] characters, and a word up to [`WORD_CHARS`]: one
//! that is larger than any passage is a passage of its own. Beyond these it is data rather than something to read, and
//! is cut like text (code and tables at line ends where there are any).

mod pack;
mod sections;

use std::ops::Range;

use model::{DocId, PassageId};
use uuid::Uuid;

/// A passage ends before this length only where its section ends or something that must stay whole begins.
pub const MIN_CHARS: usize = 600;
/// A passage is longer only where something that must stay whole is.
pub const MAX_CHARS: usize = 1_200;
/// The longest code block or table row that is kept whole: some thousand lines of code.
pub const ATOM_CHARS: usize = 32_768;
/// The longest word that is kept whole.
pub const WORD_CHARS: usize = 4_000;

/// One passage: where it is, and what it stands under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassageSpan {
    /// Position among the passages of its document, from 0.
    pub ordinal: u32,
    /// The passage in bytes of the content.
    pub bytes: Range<usize>,
    /// The same in characters (Unicode scalar values).
    pub chars: Range<usize>,
    /// The heading of the passage's section, as readable text; `None` before the first heading.
    pub section_heading: Option<String>,
    /// That heading and those above it, outermost first; empty before the first heading.
    pub section_path: Vec<String>,
}

impl PassageSpan {
    /// The passage's text: a slice of the content that it was made from, and empty for another content that is shorter.
    pub fn text<'a>(&self, content: &'a str) -> &'a str {
        content.get(self.bytes.clone()).unwrap_or_default()
    }
}

/// Splits `content` (markdown or plain text) into passages. No content, no passages.
///
/// Linear in the length of the content, whatever is in it.
pub fn split(content: &str) -> Vec<PassageSpan> {
    let mut passages = Vec::new();
    let mut start_char = 0;
    let mut path: Vec<(u8, String)> = Vec::new();
    for section in sections::sections(content) {
        let (breaks, begins_whole) = (&section.breaks, section.begins_whole);
        enter(&mut path, section.headings);
        // An empty heading ends the section before it and names none.
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

/// The path below `headings`: each takes the place of those of its level and deeper.
fn enter(path: &mut Vec<(u8, String)>, headings: Vec<(u8, String)>) {
    for (level, heading) in headings {
        path.truncate(path.iter().position(|(outer, _)| *outer >= level).unwrap_or(path.len()));
        path.push((level, heading));
    }
}

/// The id of a passage: UUID version 5 of its content's digest and its ordinal, in the namespace of the document. The
/// same content gives the same ids; other content gives others.
pub fn passage_id(doc_id: DocId, content_digest: &str, ordinal: u32) -> PassageId {
    PassageId(Uuid::new_v5(&doc_id.0, format!("{content_digest}#{ordinal}").as_bytes()))
}

#[cfg(test)]
mod tests;
