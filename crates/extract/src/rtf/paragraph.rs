//! Text and properties of the current paragraph.

use crate::literal::{self, Shift};

#[derive(Default)]
pub(super) struct Paragraph {
    pub in_table: bool,
    pub style: Option<i32>,
    /// `\outlinelevel`; 0 is the highest.
    pub outline: Option<u8>,
    pub list_level: u8,
    pub in_list: bool,
    pub marker: String,
    markdown: String,
    /// Text behind `markdown` that is escaped when it is known what follows.
    literal: String,
    /// Raised or lowered text behind `literal`. The program may split it.
    shifted: String,
    shift: Option<Shift>,
}

impl Paragraph {
    /// Appends text that may be above or below the line.
    pub(super) fn text(&mut self, text: &str, shift: Option<Shift>) {
        if shift != self.shift {
            self.end_shift();
            self.shift = shift;
        }
        let part = if shift.is_some() { &mut self.shifted } else { &mut self.literal };
        part.push_str(text);
    }

    /// Appends markdown as it is.
    pub(super) fn markup(&mut self, markup: &str) {
        self.settle(markup.chars().next());
        self.markdown.push_str(markup);
    }

    /// Resets all but the text.
    pub(super) fn reset_properties(&mut self) {
        self.end_shift();
        let (markdown, literal) = (std::mem::take(&mut self.markdown), std::mem::take(&mut self.literal));
        *self = Self { markdown, literal, ..Self::default() };
    }

    /// Returns the offset at which the text of a link starts.
    pub(super) fn begin_link(&mut self) -> usize {
        self.settle(Some('['));
        self.markdown.len()
    }

    /// Makes the text behind an offset a link.
    pub(super) fn end_link(&mut self, start: usize, target: &str) {
        self.settle(Some(']'));
        // The paragraph may have ended since.
        if !self.markdown.is_char_boundary(start) {
            return;
        }
        let label = self.markdown.split_off(start);
        let shown = label.trim();
        if shown.is_empty() || shown.contains(['[', ']', '\n']) {
            self.markdown.push_str(&label);
        } else {
            self.markdown.push_str(&format!("[{shown}]({target})"));
        }
    }

    /// Returns and removes the number or bullet in front of the text.
    pub(super) fn take_marker(&mut self) -> String {
        literal::block(&std::mem::take(&mut self.marker))
    }

    /// Returns and removes the text. `is_block`: no other text will be in its block.
    pub(super) fn take_markdown(&mut self, is_block: bool) -> String {
        self.end_shift();
        if is_block && self.markdown.is_empty() {
            return literal::block(&std::mem::take(&mut self.literal));
        }
        self.settle(None);
        std::mem::take(&mut self.markdown)
    }

    /// Escapes the text since the last markup. `after` is the character that follows.
    fn settle(&mut self, after: Option<char>) {
        self.end_shift();
        literal::push_part(&std::mem::take(&mut self.literal), after, &mut self.markdown);
    }

    /// Ends raised or lowered text. Tags keep it apart from the word in front of it, if it would change that.
    fn end_shift(&mut self) {
        let Some(shift) = self.shift.take() else { return };
        let shifted = std::mem::take(&mut self.shifted);
        let before = if self.literal.is_empty() { &self.markdown } else { &self.literal };
        if !shift.is_distinct(before, &shifted) {
            self.literal.push_str(&shifted);
            return;
        }
        let text = shifted.trim_end();
        literal::push_part(&std::mem::take(&mut self.literal), Some('<'), &mut self.markdown);
        self.markdown.push_str(&format!("<{}>", shift.tag()));
        literal::push_part(text, Some('<'), &mut self.markdown);
        self.markdown.push_str(&format!("</{}>", shift.tag()));
        self.literal.push_str(&shifted[text.len()..]);
    }
}
