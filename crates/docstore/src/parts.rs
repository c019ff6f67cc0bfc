//! Long contents, which are stored in parts, so that a read loads only what it returns.

use std::sync::Arc;

use model::CaptureId;

use crate::part_map::{Mark, PartMap};
use crate::rows::Passage;

/// Maximum length of a content that is stored whole, in characters.
const WHOLE_CHARS: usize = 65_536;
/// Minimum length of a part in characters. A part ends with the first passage that reaches it.
const PART_CHARS: usize = 16_384;

/// Returns true if a content of this length in bytes is stored whole, whatever its characters.
pub fn is_whole(bytes: usize) -> bool {
    bytes <= WHOLE_CHARS
}

/// Divides a content with its passages, which are in order. `None` if it is short enough to be stored whole. `analysis` is
/// the version of the analysis that its words are indexed with.
pub fn divide(content: &str, passages: &[Passage], analysis: u32) -> Option<PartMap> {
    divide_at(content, passages, analysis, WHOLE_CHARS, PART_CHARS)
}

/// Divides a content of more than `whole` characters into parts of at least `part` characters.
#[doc(hidden)]
pub fn divide_at(content: &str, passages: &[Passage], analysis: u32, whole: usize, part: usize) -> Option<PartMap> {
    let end = |(passage, number): (&Passage, usize)| Mark {
        passage: number,
        char: offset(passage.char_end),
        byte: offset(passage.byte_end),
    };
    PartMap::divide(content, passages.iter().zip(1..).map(end), analysis, whole, part)
}

fn offset(column: i32) -> usize {
    usize::try_from(column).unwrap_or(0)
}

/// Content to be stored in parts. Its capture has the directory, and the first part as its content.
#[derive(Clone, Debug)]
pub struct NewParts {
    /// The whole content. Shared, since a batch is stored again after a conflict.
    pub content: Arc<String>,
    /// Inverted list of the words in each part, by bucket.
    pub terms: Arc<Vec<Vec<u8>>>,
}

/// Request for parts of one capture.
#[derive(Clone, Debug)]
pub struct WantedParts {
    pub capture_id: CaptureId,
    /// Numbers of parts.
    pub parts: Vec<usize>,
}

/// Part of a stored content.
#[derive(Clone, Debug)]
pub struct LoadedPart {
    pub capture_id: CaptureId,
    pub part: usize,
    pub content: String,
    /// Passages of the part, in order.
    pub passages: Vec<Passage>,
}

/// Bucket of the words of one capture.
#[derive(Clone, Debug)]
pub struct TermBucket {
    pub capture_id: CaptureId,
    pub bucket: usize,
    pub lists: Vec<u8>,
}
