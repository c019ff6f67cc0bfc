//! Text of an open paragraph or heading.

use super::outline::Place;
use crate::literal::{self, Shift};

#[derive(Default)]
pub(super) struct Paragraph {
    /// Heading level; `None` for a paragraph.
    pub level: Option<u8>,
    /// Place in the outline; `None` for a paragraph and for a heading that is not counted.
    pub outline: Option<Place>,
    /// True if the text begins with the number of the paragraph.
    pub is_numbered: bool,
    /// True if a field hides the paragraph.
    pub is_hidden: bool,
    /// Text without marks and with its own white space.
    pub plain: String,
    markdown: String,
    /// Text behind `markdown` that is escaped when it is known what follows.
    literal: String,
    open: Vec<Span>,
    /// Span that was closed last, and the length of the markdown with its closing marker.
    closed: Option<(Span, usize)>,
}

/// Emphasized text, a link, or text without a marker.
#[derive(Default)]
struct Span {
    /// Offset in the paragraph's markdown after the opening marker.
    start: usize,
    /// `**`, `*`, `***`, `[`, or nothing.
    mark: &'static str,
    /// Closing marker: that of the emphasis, a link target, or nothing.
    close: String,
    /// Set for raised or lowered text, which has no marker.
    shift: Option<Shift>,
}

impl Paragraph {
    /// Creates a paragraph, or a heading of a level.
    pub(super) fn new(level: Option<u8>) -> Self {
        Self { level, ..Self::default() }
    }

    /// Appends text with white space collapsed to single spaces (ODF 1.3 part 3, 6.1.2).
    pub(super) fn text(&mut self, text: &str) {
        self.plain.push_str(text);
        for c in text.chars() {
            if matches!(c, ' ' | '\t' | '\n' | '\r') {
                if self.literal.is_empty() && self.move_space() {
                    continue;
                }
                let last = self.literal.chars().next_back().or_else(|| self.markdown.chars().next_back());
                if last.is_some_and(|last| !matches!(last, ' ' | '\t' | '\n')) {
                    self.literal.push(' ');
                }
            } else {
                self.literal.push(c);
            }
        }
    }

    /// Puts a space before the markers at the end, because a marker before a space opens nothing. Returns false if there are none.
    fn move_space(&mut self) -> bool {
        let end = self.markdown.len();
        let mut at = end;
        for span in self.open.iter().rev().filter(|span| !span.mark.is_empty()) {
            if span.start != at {
                break;
            }
            at -= span.mark.len();
        }
        if at == end {
            return false;
        }
        if self.markdown[..at].ends_with(|last: char| !last.is_whitespace()) {
            self.markdown.insert(at, ' ');
            self.open.iter_mut().filter(|span| span.start > at).for_each(|span| span.start += 1);
        }
        true
    }

    pub(super) fn text_kept(&mut self, text: &str) {
        self.plain.push_str(text);
        self.literal.push_str(text);
    }

    /// Appends markdown as it is.
    pub(super) fn markup(&mut self, markup: &str) {
        if !markup.is_empty() {
            self.settle(markup.chars().next());
            self.markdown.push_str(markup);
        }
    }

    /// Opens a span that is bold or italic.
    pub(super) fn open_emphasis(&mut self, (bold, italic): (bool, bool)) {
        let mark = match (bold && !self.is_marked("**"), italic && !self.is_marked("*")) {
            (true, true) => "***",
            (true, false) => "**",
            (false, true) => "*",
            (false, false) => "",
        };
        self.open(mark, mark.to_owned());
    }

    /// Opens a span that is raised or lowered.
    pub(super) fn open_shift(&mut self, shift: Shift) {
        self.settle(Some('<'));
        // Emphasis inside of the span must not go on from the one before.
        self.closed = None;
        self.open.push(Span { start: self.markdown.len(), shift: Some(shift), ..Span::default() });
    }

    /// Ends raised or lowered text. Tags keep it apart from the word in front of it, if it would change that.
    fn close_shift(&mut self, start: usize, shift: Shift) {
        self.settle(Some('<'));
        if !self.markdown.is_char_boundary(start) {
            return;
        }
        let shifted = self.markdown.split_off(start);
        let text = shifted.trim_end();
        if shift.is_distinct(&self.markdown, text) {
            self.markdown.push_str(&format!("<{0}>{text}</{0}>{1}", shift.tag(), &shifted[text.len()..]));
            self.closed = None;
        } else {
            self.markdown.push_str(&shifted);
        }
    }

    /// Opens a link. One to a place in the document is text.
    pub(super) fn open_link(&mut self, target: &str) {
        let outside = ["http://", "https://", "mailto:"].iter().any(|scheme| target.starts_with(scheme));
        if outside && !target.contains([' ', ')', '\n']) {
            self.open("[", format!("]({target})"));
        } else {
            self.open("", String::new());
        }
    }

    /// Returns true if an open span has the emphasis already. Emphasis inside a heading is redundant, too.
    fn is_marked(&self, mark: &str) -> bool {
        self.level.is_some() || self.open.iter().any(|span| span.mark == mark || span.mark == "***")
    }

    /// Opens a span, or the one before it again if nothing but their markers is between them: programs split a bold phrase
    /// wherever another property changes.
    fn open(&mut self, mark: &'static str, close: String) {
        if mark.is_empty() {
            self.open.push(Span::default());
            return;
        }
        self.settle(mark.chars().next());
        let Self { markdown, open, closed, .. } = self;
        if let Some((span, _)) = closed.take_if(|(span, end)| *end == markdown.len() && span.close == close) {
            markdown.truncate(markdown.len() - close.len());
            open.push(span);
            return;
        }
        markdown.push_str(mark);
        open.push(Span { start: markdown.len(), mark, close, shift: None });
    }

    /// Closes the innermost span or link and removes empty spans. White space before the closing marker moves behind
    /// it, because a marker after a space closes nothing.
    pub(super) fn close(&mut self) {
        let Some(span) = self.open.pop() else { return };
        if let Some(shift) = span.shift {
            self.close_shift(span.start, shift);
            return;
        }
        if span.close.is_empty() {
            return;
        }
        self.settle(span.close.chars().next());
        let Self { markdown, closed, .. } = self;
        let space = markdown.split_off(markdown.trim_end().len());
        if markdown.len() == span.start {
            markdown.truncate(span.start - span.mark.len());
        } else {
            if span.mark == "[" {
                let label = markdown.split_off(span.start);
                markdown.push_str(&literal::balanced(&label));
            }
            markdown.push_str(&span.close);
            *closed = Some((span, markdown.len()));
        }
        markdown.push_str(&space);
    }

    /// Returns the markdown of the paragraph. `is_block`: no other text will be in its block.
    pub(super) fn finish(mut self, is_block: bool) -> String {
        if is_block && self.markdown.is_empty() {
            return literal::block(self.literal.trim());
        }
        while !self.open.is_empty() {
            self.close();
        }
        self.settle(None);
        self.markdown.trim().to_owned()
    }

    /// Escapes the text since the last markup. `after` is the character that follows.
    fn settle(&mut self, after: Option<char>) {
        literal::push_part(&std::mem::take(&mut self.literal), after, &mut self.markdown);
    }
}
