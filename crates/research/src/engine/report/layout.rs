//! Layout of blocks within the length of the report, and the places of the citations.

use std::ops::Range;

use retrieval_core::chars;

use super::super::assignment::Format;
use super::super::quotes::Quote;
use super::super::text::display;

/// Part of a block. Texts are harmless already.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Text(String),
    Cite(Quote),
}

/// Paragraph or list item. It is shown whole or not at all.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub is_item: bool,
    pub pieces: Vec<Piece>,
}

/// Blocks under a heading.
#[derive(Clone, Debug, Default)]
pub(super) struct Section {
    pub heading: Option<String>,
    pub blocks: Vec<Block>,
}

/// Finished text.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub text: String,
    pub truncated: bool,
    /// Quotes in the order of their numbers, with the characters of their first marks.
    pub quotes: Vec<(Quote, Range<usize>)>,
}

/// Lays out the sections: as many blocks as fit, in order. A heading stands only above a block.
pub(super) fn lay_out(sections: &[Section], max_chars: usize, format: Format) -> Layout {
    let mut writer = Writer { layout: Layout::default(), length: 0, max_chars, after_item: false };
    for section in sections {
        let mut heading = section.heading.as_deref();
        for block in &section.blocks {
            if writer.add(heading, block, format) {
                heading = None;
            } else {
                writer.layout.truncated = true;
            }
        }
    }
    if writer.length == 0
        && let Some(block) = sections.iter().flat_map(|section| &section.blocks).next()
    {
        writer.add_beginning(block);
    }
    writer.layout
}

struct Writer {
    layout: Layout,
    /// Characters of the text.
    length: usize,
    max_chars: usize,
    after_item: bool,
}

impl Writer {
    /// Adds a block, and the heading above it, if both fit.
    fn add(&mut self, heading: Option<&str>, block: &Block, format: Format) -> bool {
        let mut lead = String::new();
        let is_first = self.length == 0;
        if let Some(heading) = heading {
            let mark = if format == Format::Markdown { "## " } else { "" };
            lead = format!("{}{mark}{heading}\n\n", if is_first { "" } else { "\n\n" });
        } else if !is_first {
            lead.push_str(if block.is_item && self.after_item { "\n" } else { "\n\n" });
        }
        if block.is_item {
            lead.push_str("- ");
        }
        let mut text = lead;
        let mut length = self.length + chars::count(&text);
        let mut new: Vec<(Quote, Range<usize>)> = Vec::new();
        for piece in &block.pieces {
            match piece {
                Piece::Text(part) => {
                    text.push_str(part);
                    length += chars::count(part);
                }
                Piece::Cite(quote) => {
                    let known = self.layout.quotes.iter().chain(&new).position(|(known, _)| known == quote);
                    let number = known.unwrap_or(self.layout.quotes.len() + new.len()) + 1;
                    let mark = format!("[{number}]");
                    if known.is_none() {
                        new.push((*quote, length..length + mark.len()));
                    }
                    text.push_str(&mark);
                    length += mark.len();
                }
            }
        }
        if length > self.max_chars {
            return false;
        }
        self.layout.text.push_str(&text);
        self.layout.quotes.append(&mut new);
        self.length = length;
        self.after_item = block.is_item;
        true
    }

    /// Adds the beginning of a block to an empty report: its first text, cut between words, and the mark after it.
    fn add_beginning(&mut self, block: &Block) {
        let text = block.pieces.iter().find_map(|piece| if let Piece::Text(text) = piece { Some(text) } else { None });
        let quote =
            block.pieces.iter().find_map(|piece| if let Piece::Cite(quote) = piece { Some(*quote) } else { None });
        let (Some(text), Some(quote)) = (text, quote) else { return };
        let shown = display::truncate(text.trim_end(), self.max_chars.saturating_sub(4));
        // A cut between an escape and its character would escape the mark.
        let shown = shown.trim_end_matches('\\');
        let start = chars::count(shown) + 1;
        if shown.is_empty() || start + 3 > self.max_chars {
            return;
        }
        self.layout.text = format!("{shown} [1]");
        self.layout.quotes = vec![(quote, start..start + 3)];
    }
}
