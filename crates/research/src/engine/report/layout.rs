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

/// Lays out the sections: as many blocks as fit, in order. A heading stands only above a block. If no block with a
/// citation fits, the report consists of the beginning of the first one, and of the blocks without citations.
pub(super) fn lay_out(sections: &[Section], max_chars: usize, format: Format) -> Layout {
    let mut writer = Writer::new(max_chars);
    writer.add_all(sections, format, |_| true);
    let answer = sections.iter().flat_map(|section| &section.blocks).find(|block| block.quote().is_some());
    if writer.layout.quotes.is_empty()
        && let Some(answer) = answer
    {
        let mut short = Writer::new(max_chars);
        short.add_beginning(answer);
        if !short.layout.quotes.is_empty() {
            short.add_all(sections, format, |block| block.quote().is_none());
            short.layout.truncated = true;
            writer = short;
        }
    }
    writer.layout
}

impl Block {
    /// Returns the first quote that it cites.
    fn quote(&self) -> Option<Quote> {
        self.pieces.iter().find_map(|piece| if let Piece::Cite(quote) = piece { Some(*quote) } else { None })
    }
}

struct Writer {
    layout: Layout,
    /// Characters of the text.
    length: usize,
    max_chars: usize,
    after_item: bool,
}

impl Writer {
    fn new(max_chars: usize) -> Self {
        Self { layout: Layout::default(), length: 0, max_chars, after_item: false }
    }

    /// Adds the chosen blocks that fit.
    fn add_all(&mut self, sections: &[Section], format: Format, is_chosen: impl Fn(&Block) -> bool) {
        for section in sections {
            let mut heading = section.heading.as_deref();
            for block in section.blocks.iter().filter(|block| is_chosen(block)) {
                if self.add(heading, block, format) {
                    heading = None;
                } else {
                    self.layout.truncated = true;
                }
            }
        }
    }

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
        let (Some(text), Some(quote)) = (text, block.quote()) else { return };
        let shown = display::truncate(text.trim_end(), self.max_chars.saturating_sub(4));
        // A cut between an escape and its character would escape the mark.
        let shown = shown.trim_end_matches('\\');
        let start = chars::count(shown) + 1;
        if shown.is_empty() || start + 3 > self.max_chars {
            return;
        }
        self.layout.text = format!("{shown} [1]");
        self.layout.quotes = vec![(quote, start..start + 3)];
        self.length = start + 3;
    }
}
