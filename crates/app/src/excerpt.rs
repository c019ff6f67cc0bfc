//! Text of a stored content that was read: the whole, or some of its parts.

use std::ops::Range;

use docstore::{LoadedPart, PartMap, Passage};
use ingest::prepare::{offset, ranked_span};
use retrieval_core::passages::{self, PassageSpan};
use retrieval_core::select;

/// Parts of a content, joined, and their passages.
#[derive(Clone, Debug, Default)]
pub struct Excerpt {
    content: String,
    passages: Vec<Passage>,
    /// Location of each passage in `content`.
    ranges: Vec<Range<usize>>,
}

impl Excerpt {
    /// Creates the excerpt of a content that was read from its start, with the passages in it.
    pub fn beginning(content: String, passages: Vec<Passage>) -> Self {
        let range = |passage: &Passage| {
            let range = offset(passage.byte_start)..offset(passage.byte_end);
            // Offsets that do not fit the content make an empty passage.
            if content.get(range.clone()).is_some() { range } else { 0..0 }
        };
        Self { ranges: passages.iter().map(range).collect(), content, passages }
    }

    /// Creates an empty excerpt for a content of this length.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { content: String::with_capacity(bytes), ..Self::default() }
    }

    /// Adds a part.
    pub fn push(&mut self, map: &PartMap, part: LoadedPart) {
        let (start, moved_to) = (map.start(part.part).byte, self.content.len());
        for passage in &part.passages {
            let range = offset(passage.byte_start).checked_sub(start).zip(offset(passage.byte_end).checked_sub(start));
            let range = range.map(|(start, end)| start..end).filter(|range| part.content.get(range.clone()).is_some());
            self.ranges.push(range.map_or(0..0, |range| moved_to + range.start..moved_to + range.end));
        }
        self.content.push_str(&part.content);
        self.passages.extend(part.passages);
    }

    pub fn content(&self) -> &str {
        &self.content
    }

    /// Returns the passages in order of their ordinals, which may have gaps.
    pub fn passages(&self) -> &[Passage] {
        &self.passages
    }

    /// Returns the location of a passage in the content, given its position among the passages.
    pub fn range(&self, position: usize) -> Range<usize> {
        self.ranges.get(position).cloned().unwrap_or_default()
    }

    /// Returns the text of a passage, given its position among the passages.
    pub fn text(&self, position: usize) -> &str {
        &self.content[self.range(position)]
    }

    /// Returns the position of the passage with this ordinal.
    pub fn position(&self, ordinal: usize) -> Option<usize> {
        self.passages.binary_search_by_key(&ordinal, |passage| offset(passage.ordinal)).ok()
    }

    /// Returns the pieces of the content that can be parsed by themselves: each begins with the document or a section, and has no gap.
    /// Before the first section of a part there are no headings, but a code block may be open that begins in an earlier part.
    pub fn parsable(&self) -> Vec<Range<usize>> {
        let mut pieces: Vec<Range<usize>> = Vec::new();
        let mut before = None;
        for (passage, range) in self.passages.iter().zip(&self.ranges) {
            let follows = before.is_some_and(|before: i32| before.checked_add(1) == Some(passage.ordinal));
            before = Some(passage.ordinal);
            match pieces.last_mut() {
                Some(piece) if follows && piece.end == range.start => piece.end = range.end,
                _ => {
                    let text = &self.content[range.clone()];
                    if passage.ordinal == 0 || passages::begins_section(text, &passage.section_path.0) {
                        pieces.push(range.clone());
                    }
                }
            }
        }
        pieces
    }

    /// Returns the positions of the passages that match the query, best first.
    pub fn query_relevant(&self, query: &str, language: Option<&str>) -> Vec<usize> {
        let spans: Vec<PassageSpan> = self
            .passages
            .iter()
            .zip(&self.ranges)
            .map(|(passage, range)| PassageSpan { bytes: range.clone(), ..ranked_span(passage) })
            .collect();
        select::query_relevant(query, &self.content, &spans, language)
    }
}
