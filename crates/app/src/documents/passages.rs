//! Stored passages: their text, and the views that a response contains.

use std::ops::Range;

use docstore::{Passage, StoredCapture};
use retrieval_core::passages::PassageSpan;

use super::PassageView;

pub fn views(stored: &StoredCapture, chosen: &[usize], offsets: bool) -> Vec<PassageView> {
    chosen.iter().map(|position| passage_view(&stored.capture.content, &stored.passages[*position], offsets)).collect()
}

fn passage_view(content: &str, passage: &Passage, offsets: bool) -> PassageView {
    PassageView {
        passage_id: passage.passage_id,
        doc_id: passage.doc_id,
        ordinal: u32::try_from(passage.ordinal).unwrap_or(0),
        text: text(content, passage).to_owned(),
        chars: offsets.then_some((unsigned(passage.char_start), unsigned(passage.char_end))),
        section_heading: passage.section_path.0.last().cloned(),
        section_path: passage.section_path.0.clone(),
    }
}

/// Returns the passage's slice of the content; empty if its offsets do not fit the content.
pub fn text<'a>(content: &'a str, passage: &Passage) -> &'a str {
    &content[byte_range(content, passage)]
}

/// Returns the passage's byte range in the content; empty if its offsets do not fit the content.
pub fn byte_range(content: &str, passage: &Passage) -> Range<usize> {
    let range = unsigned(passage.byte_start) as usize..unsigned(passage.byte_end) as usize;
    if content.get(range.clone()).is_some() { range } else { 0..0 }
}

/// Converts a stored passage to the span that `retrieval_core` works with.
pub fn span(passage: &Passage) -> PassageSpan {
    let offset = |n: i32| usize::try_from(n).unwrap_or(0);
    PassageSpan {
        ordinal: u32::try_from(passage.ordinal).unwrap_or(0),
        bytes: offset(passage.byte_start)..offset(passage.byte_end),
        chars: offset(passage.char_start)..offset(passage.char_end),
        section_heading: passage.section_path.0.last().cloned(),
        section_path: passage.section_path.0.clone(),
    }
}

fn unsigned(n: i32) -> u64 {
    u64::try_from(n).unwrap_or(0)
}
