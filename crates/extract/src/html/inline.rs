//! Inline text of a page: emphasis, code, links, images.

use dom_query::NodeRef;

use super::code::code_text;
use super::measure::SILENT;
use super::{formula, raised};
use crate::literal;
pub(super) use crate::literal::balanced;

/// Start of a part that is rendered separately. It keeps a leading space visible.
const PART_START: &str = "\u{1}";

/// Inline text with collapsed white space and markers directly at words.
#[derive(Default)]
pub(super) struct Inline {
    out: String,
    /// Text of the code behind `out`, to which code beside it is added: two spans would be read as one with other text.
    code: String,
    /// Text behind `code` that is escaped when it is known what follows.
    literal: String,
    /// Last character of the word in front of a part that is rendered separately.
    before: String,
}

impl Inline {
    /// Returns the lines; two line breaks in a row end a paragraph.
    pub(super) fn finish(mut self) -> String {
        self.settle(None);
        let mut out = String::with_capacity(self.out.len());
        let mut breaks = 0;
        for line in self.out.lines().map(str::trim) {
            if !line.is_empty() {
                out.push_str(["", "\n", "\n\n"][if out.is_empty() { 0 } else { breaks.min(2) }]);
                out.push_str(line);
                breaks = 0;
            }
            breaks += 1;
        }
        out
    }

    pub(super) fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                ' ' | '\t' | '\n' | '\r' | '\x0c' => self.space(),
                // Soft hyphens and zero-width spaces only affect line breaking in a browser.
                '\u{ad}' | '\u{200b}' | '\u{feff}' => {}
                c if c.is_control() => {}
                c => self.literal.push(c),
            }
        }
    }

    /// Returns the text or markup at the end.
    fn last_text(&self) -> &str {
        [&self.literal, &self.code].into_iter().find(|text| !text.is_empty()).unwrap_or(&self.out)
    }

    /// Returns the text or markup in front of what follows. At the start of a part it is that in front of the part.
    fn text_before(&self) -> &str {
        match self.last_text() {
            PART_START => &self.before,
            text => text,
        }
    }

    fn space(&mut self) {
        if self.last_text().ends_with(|last| !matches!(last, ' ' | '\n')) {
            self.literal.push(' ');
        }
    }

    /// Appends markdown as it is.
    fn markup(&mut self, markup: &str) {
        if !markup.is_empty() {
            self.settle(markup.chars().next());
            self.out.push_str(markup);
        }
    }

    /// Completes the code and escapes the text since the last markup. `after` is the character that follows.
    fn settle(&mut self, after: Option<char>) {
        if !self.code.is_empty() {
            self.out.push_str(&code_span(&std::mem::take(&mut self.code)));
        }
        literal::push_part(&std::mem::take(&mut self.literal), after, &mut self.out);
    }

    pub(super) fn element(&mut self, element: &NodeRef) {
        let name = element.node_name().unwrap_or_default();
        match &*name {
            name if SILENT.contains(&name) => {}
            "br" => {
                self.literal.truncate(self.literal.trim_end_matches(' ').len());
                self.markup("\n");
            }
            "b" | "strong" => self.emphasis(element, "**"),
            "i" | "em" | "cite" | "var" => self.emphasis(element, "*"),
            "del" | "s" | "strike" => self.emphasis(element, "~~"),
            "sup" | "sub" if raised::is_distinct(element, self.text_before()) => self.tagged(element, &name),
            "code" | "kbd" | "samp" | "tt" => self.code(element),
            "a" => self.link(element),
            "img" => self.image(element),
            "q" => {
                self.literal.push('"');
                self.children(element);
                self.literal.push('"');
            }
            // Pronunciation above the characters repeats them.
            "rt" | "rp" | "wbr" => {}
            "math" => self.markup(&formula::markdown(element)),
            _ => self.children(element),
        }
    }

    fn children(&mut self, element: &NodeRef) {
        for child in element.children_it(false) {
            if child.is_text() {
                self.text(&child.text());
            } else if child.is_element() {
                self.element(&child);
            }
        }
    }

    /// Renders the element's inline text separately. `before` is the text that it continues.
    fn render_separately(element: &NodeRef, before: &str) -> String {
        let before = literal::word_end(before).map(String::from).unwrap_or_default();
        let mut inner = Inline { out: PART_START.to_owned(), before, ..Inline::default() };
        inner.children(element);
        // A closing marker or bracket.
        inner.settle(Some('*'));
        inner.out.split_off(PART_START.len())
    }

    /// Appends text between markers. Spaces at its ends go outside, because a marker next to a space is not emphasis.
    fn emphasis(&mut self, element: &NodeRef, mark: &str) {
        let inner = Self::render_separately(element, self.text_before());
        let text = inner.trim();
        if inner.starts_with([' ', '\n']) {
            self.space();
        }
        let continues = self.code.is_empty() && self.literal.is_empty() && self.out.ends_with(mark);
        if text.is_empty() || text.contains('\n') || text.contains(mark) || continues {
            self.markup(text);
        } else {
            self.markup(&format!("{mark}{text}{mark}"));
        }
        if inner.ends_with([' ', '\n']) {
            self.space();
        }
    }

    /// Appends text between tags, for which markdown has no markers.
    fn tagged(&mut self, element: &NodeRef, tag: &str) {
        let inner = Self::render_separately(element, "");
        self.markup(&format!("<{tag}>{}</{tag}>", inner.trim().replace('\n', " ")));
        if inner.ends_with([' ', '\n']) {
            self.space();
        }
    }

    fn code(&mut self, element: &NodeRef) {
        let mut text = String::new();
        code_text(element, &mut text);
        if text.starts_with(char::is_whitespace) {
            self.space();
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.is_empty() {
            return;
        }
        if !self.literal.is_empty() {
            self.settle(Some('`'));
        }
        self.code.push_str(&words.join(" "));
        if text.ends_with(char::is_whitespace) {
            self.space();
        }
    }

    fn link(&mut self, element: &NodeRef) {
        // The mark of a note is distinct from a number only.
        let before = Some(self.text_before()).filter(|before| raised::continues_number(before, &element.text()));
        let inner = Self::render_separately(element, before.unwrap_or_default());
        let text = inner.trim().replace('\n', " ");
        // Sign beside a heading that links to the heading itself.
        let own = element.attr("href").is_some_and(|href| href.trim_start().starts_with('#'));
        let anchor = element.attr("class").is_some_and(|class| {
            ["anchor", "headerlink", "permalink", "hash-link"].iter().any(|sign| class.contains(sign))
        });
        if (own || anchor) && !text.contains(char::is_alphanumeric) {
            return;
        }
        if inner.starts_with([' ', '\n']) {
            self.space();
        }
        match target(element) {
            Some(target) if !text.is_empty() => {
                self.markup(&format!("[{}]({target})", balanced(&text)));
            }
            _ => self.markup(&text),
        }
        if inner.ends_with([' ', '\n']) {
            self.space();
        }
    }

    fn image(&mut self, element: &NodeRef) {
        if let Some(formula) = formula::of_image(element) {
            self.markup(&formula);
            return;
        }
        let alt = element.attr("alt").unwrap_or_default();
        let alt: Vec<&str> = alt.split_whitespace().collect();
        let alt = alt.join(" ");
        // An image without alternative text means nothing in text.
        if alt.is_empty() {
            return;
        }
        match element.attr("src") {
            Some(source) => self.markup(&image(&alt, &source)),
            None => self.text(&alt),
        }
    }
}

/// Returns a span of code between marks that are longer than any run of backticks inside (CommonMark 0.31, 6.1).
fn code_span(text: &str) -> String {
    let longest = text.split(|c: char| c != '`').map(str::len).max().unwrap_or(0);
    let marks = "`".repeat(longest + 1);
    let padding = if longest > 0 { " " } else { "" };
    format!("{marks}{padding}{text}{padding}{marks}")
}

/// Returns the link target in markdown syntax; `None` for places on the same page.
pub(super) fn target(element: &NodeRef) -> Option<String> {
    let target = element.attr("href").filter(|target| !target.starts_with('#') && !target.contains(['\n', ' ']))?;
    Some(target.replace('(', "%28").replace(')', "%29"))
}

/// Returns markdown of an image with its description, which is literal text.
pub(super) fn image(text: &str, source: &str) -> String {
    let mut label = String::with_capacity(text.len());
    literal::push_part(text, Some(']'), &mut label);
    format!("![{}]({})", balanced(&label), source.replace('(', "%28").replace(')', "%29"))
}
