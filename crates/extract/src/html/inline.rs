//! Inline text of a page: emphasis, code, links, images.

use dom_query::NodeRef;

use super::formula;
use super::measure::SILENT;

/// Inline text with collapsed white space and markers directly at words.
#[derive(Default)]
pub(super) struct Inline {
    out: String,
}

impl Inline {
    /// Returns the lines; two line breaks in a row end a paragraph.
    pub(super) fn finish(self) -> String {
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
                '*' | '`' => {
                    self.out.push('\\');
                    self.out.push(c);
                }
                c if c.is_control() => {}
                c => self.out.push(c),
            }
        }
    }

    fn space(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with([' ', '\n']) {
            self.out.push(' ');
        }
    }

    pub(super) fn element(&mut self, element: &NodeRef) {
        let name = element.node_name().unwrap_or_default();
        match &*name {
            name if SILENT.contains(&name) => {}
            "br" => {
                while self.out.ends_with(' ') {
                    self.out.pop();
                }
                self.out.push('\n');
            }
            "b" | "strong" => self.emphasis(element, "**"),
            "i" | "em" | "cite" | "var" => self.emphasis(element, "*"),
            "del" | "s" | "strike" => self.emphasis(element, "~~"),
            "code" | "kbd" | "samp" | "tt" => self.code(element),
            "a" => self.link(element),
            "img" => self.image(element),
            "q" => {
                self.out.push('"');
                self.children(element);
                self.out.push('"');
            }
            // Pronunciation above the characters repeats them.
            "rt" | "rp" | "wbr" => {}
            "math" => self.out.push_str(&formula::markdown(element)),
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

    /// Renders the element's inline text separately.
    fn render_separately(element: &NodeRef) -> String {
        let mut inner = Inline::default();
        // Keeps a leading space visible.
        inner.out.push('\u{1}');
        inner.children(element);
        inner.out.split_off(1)
    }

    /// Appends text between markers. Spaces at its ends go outside, because a marker next to a space is not emphasis.
    fn emphasis(&mut self, element: &NodeRef, mark: &str) {
        let inner = Self::render_separately(element);
        let text = inner.trim();
        if inner.starts_with([' ', '\n']) {
            self.space();
        }
        if text.is_empty() || text.contains('\n') || text.contains(mark) || self.out.ends_with(mark) {
            self.out.push_str(text);
        } else {
            self.out.push_str(mark);
            self.out.push_str(text);
            self.out.push_str(mark);
        }
        if inner.ends_with([' ', '\n']) {
            self.space();
        }
    }

    fn code(&mut self, element: &NodeRef) {
        let text = element.text();
        let text: Vec<&str> = text.split_whitespace().collect();
        let text = text.join(" ");
        if text.is_empty() {
            return;
        }
        if text.contains('`') {
            self.out.push_str(&format!("`` {text} ``"));
        } else {
            self.out.push_str(&format!("`{text}`"));
        }
    }

    fn link(&mut self, element: &NodeRef) {
        let inner = Self::render_separately(element);
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
                self.out.push_str(&format!("[{}]({target})", balanced(&text)));
            }
            _ => self.out.push_str(&text),
        }
        if inner.ends_with([' ', '\n']) {
            self.space();
        }
    }

    fn image(&mut self, element: &NodeRef) {
        if let Some(formula) = formula::of_image(element) {
            self.out.push_str(&formula);
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
            Some(source) => self.out.push_str(&image(&alt, &source)),
            None => self.text(&alt),
        }
    }
}

/// Returns the link target in markdown syntax; `None` for places on the same page.
pub(super) fn target(element: &NodeRef) -> Option<String> {
    let target = element.attr("href").filter(|target| !target.starts_with('#') && !target.contains(['\n', ' ']))?;
    Some(target.replace('(', "%28").replace(')', "%29"))
}

/// Escapes brackets that do not match, because they would end the label.
pub(super) fn balanced(label: &str) -> String {
    let mut depth = 0i32;
    let fits = label.chars().all(|c| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        depth >= 0
    });
    if fits && depth == 0 { label.to_owned() } else { label.replace('[', "\\[").replace(']', "\\]") }
}

/// Returns markdown of an image with its description.
pub(super) fn image(text: &str, source: &str) -> String {
    format!("![{}]({})", balanced(text), source.replace('(', "%28").replace(')', "%29"))
}
