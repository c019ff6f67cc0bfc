//! Elements of a page as markdown.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use dom_query::{NodeRef, Selection};

use super::measure::is_block;
use super::table;
use crate::blocks::push_escaped;

/// Elements that say nothing as text.
const SILENT: [&str; 16] = [
    "script", "style", "template", "noscript", "noembed", "noframes", "svg", "canvas", "iframe", "object", "head",
    "title", "select", "textarea", "button", "input",
];

/// A block of so many bytes that stands in a list of blocks already is not written again.
const REPEATED: usize = 40;

/// Markdown of an element: its blocks with a blank line between them.
pub(super) fn markdown(element: &NodeRef) -> String {
    let mut blocks = Blocks::default();
    blocks.element(element);
    blocks.finish()
}

/// The inline text of an element as one line (table cells, headings), blocks in it joined by `separator`.
pub(super) fn line(element: &NodeRef, separator: &str) -> String {
    let rendered = markdown_of_children(element);
    let lines: Vec<&str> = rendered.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(separator)
}

/// Blocks done, and the paragraph that inline text is gathered into.
#[derive(Default)]
struct Blocks {
    done: Vec<String>,
    paragraph: Inline,
    /// Digests of the longer blocks.
    seen: HashSet<u64>,
}

fn digest(block: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    block.hash(&mut hasher);
    hasher.finish()
}

impl Blocks {
    fn finish(mut self) -> String {
        self.end_paragraph();
        self.done.join("\n\n")
    }

    fn end_paragraph(&mut self) {
        let text = std::mem::take(&mut self.paragraph).finish();
        if text.is_empty() {
            return;
        }
        let mut escaped = String::with_capacity(text.len());
        for (number, line) in text.lines().enumerate() {
            if number > 0 {
                escaped.push('\n');
            }
            push_escaped(line.trim(), &mut escaped);
        }
        self.push(escaped);
    }

    fn push(&mut self, block: String) {
        // Galleries and teasers repeat their texts.
        let repeated = block.len() >= REPEATED && !self.seen.insert(digest(&block));
        if !block.trim().is_empty() && !repeated {
            self.done.push(block);
        }
    }

    fn children(&mut self, element: &NodeRef) {
        for child in element.children_it(false) {
            if child.is_text() {
                self.paragraph.text(&child.text());
            } else if child.is_element() {
                self.element(&child);
            }
        }
    }

    fn element(&mut self, element: &NodeRef) {
        let name = element.node_name().unwrap_or_default();
        let name: &str = &name;
        if SILENT.contains(&name) {
            return;
        }
        if !is_block(name) {
            if name == "a" && holds_block(element) {
                self.card(element);
            } else if holds_block(element) {
                self.children(element);
            } else {
                self.paragraph.element(element);
            }
            return;
        }
        self.end_paragraph();
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let level = usize::from(name.as_bytes()[1] - b'0');
                let text = line(element, " ");
                let text = text.trim_start_matches(['#', ' ', '\\']);
                if !text.is_empty() {
                    self.push(format!("{} {text}", "#".repeat(level)));
                }
            }
            "ul" | "ol" | "menu" => {
                let list = list(element, name == "ol");
                self.push(list);
            }
            "pre" => self.push(code_block(element)),
            "blockquote" => {
                let inner = markdown_of_children(element);
                let quoted: Vec<String> = inner
                    .lines()
                    .map(|line| if line.is_empty() { ">".to_owned() } else { format!("> {line}") })
                    .collect();
                self.push(quoted.join("\n"));
            }
            "table" => match table::markdown(element) {
                Some(table) => self.push(table),
                None => self.children(element),
            },
            "figure" => self.figure(element),
            "hr" => self.push("---".to_owned()),
            "dt" => {
                let text = line(element, " ");
                if !text.is_empty() {
                    self.push(format!("**{}**", text.replace("**", "")));
                }
            }
            "li" => {
                let item = list_item("- ", element);
                self.push(item);
            }
            _ => self.children(element),
        }
        self.end_paragraph();
    }
}

impl Blocks {
    /// A link around blocks: its target goes to the heading in it, or to its first line.
    fn card(&mut self, element: &NodeRef) {
        self.end_paragraph();
        let start = self.done.len();
        self.children(element);
        self.end_paragraph();
        let Some(target) = target(element) else { return };
        let blocks = &mut self.done[start..];
        let at = blocks.iter().position(|block| block.starts_with('#')).unwrap_or(0);
        let Some(block) = blocks.get_mut(at).filter(|block| !block.contains("](") && !block.contains('\n')) else {
            return;
        };
        let text = block.trim_start_matches('#').trim_start();
        let plain = text.starts_with(|c: char| c.is_alphanumeric());
        if plain {
            let marks = block[..block.len() - text.len()].to_owned();
            *block = format!("{marks}[{}]({target})", balanced(text));
        }
    }

    /// A picture and its caption are one: the caption says what is on it, so it is the picture's text.
    fn figure(&mut self, element: &NodeRef) {
        let figure = Selection::from(*element);
        let (images, captions) = (figure.select("img"), figure.select("figcaption"));
        let source = images.attr("src");
        let (Some(source), Some(caption), 1) = (source, captions.nodes().first(), images.length()) else {
            self.children(element);
            return;
        };
        let text = caption.text().split_whitespace().collect::<Vec<_>>().join(" ");
        let alt = images.attr("alt").unwrap_or_default();
        self.push(image(if text.is_empty() { &alt } else { &text }, &source));
    }
}

fn image(text: &str, source: &str) -> String {
    format!("![{}]({})", balanced(text), source.replace('(', "%28").replace(')', "%29"))
}

fn markdown_of_children(element: &NodeRef) -> String {
    let mut blocks = Blocks::default();
    blocks.children(element);
    blocks.finish()
}

fn holds_block(element: &NodeRef) -> bool {
    element.descendants_it().any(|inner| inner.node_name().is_some_and(|name| is_block(&name)))
}

fn list(element: &NodeRef, ordered: bool) -> String {
    let start = element.attr("start").and_then(|start| start.trim().parse::<u32>().ok()).unwrap_or(1);
    let mut number = start;
    let mut items = Vec::new();
    for child in element.children_it(false).filter(NodeRef::is_element) {
        let item = if child.has_name("ul") || child.has_name("ol") {
            // A list right in a list, as old editors write: it belongs to the item before.
            let nested = list(&child, child.has_name("ol"));
            nested.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
        } else if ordered {
            list_item(&format!("{number}. "), &child)
        } else {
            list_item("- ", &child)
        };
        if !item.is_empty() {
            number = number.saturating_add(1);
            items.push(item);
        }
    }
    items.join("\n")
}

/// One item: its first line behind the marker, the others under it.
fn list_item(marker: &str, element: &NodeRef) -> String {
    let inner = markdown_of_children(element);
    let indent = " ".repeat(marker.len());
    let mut item = String::new();
    // A list follows its item's text at once.
    let inner = inner.replace("\n\n- ", "\n- ").replace("\n\n1. ", "\n1. ");
    for line in inner.lines() {
        if item.is_empty() {
            item.push_str(marker);
        } else {
            item.push('\n');
            if !line.is_empty() {
                item.push_str(&indent);
            }
        }
        item.push_str(line);
    }
    item
}

/// A fenced block with the language its class names.
fn code_block(element: &NodeRef) -> String {
    let mut text = String::new();
    code_text(element, &mut text);
    let text = text.trim_matches('\n').trim_end();
    if text.trim().is_empty() {
        return String::new();
    }
    let longest =
        text.lines().map(|line| line.trim_start().bytes().take_while(|byte| *byte == b'`').count()).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let language = language(element).unwrap_or_default();
    format!("{fence}{language}\n{text}\n{fence}")
}

fn code_text(element: &NodeRef, out: &mut String) {
    for child in element.children_it(false) {
        if child.is_text() {
            out.push_str(&child.text());
        } else if child.has_name("br") {
            out.push('\n');
        } else if child.is_element() {
            // Highlighters make each line an element.
            let line = child.has_name("div") || child.has_name("p") || child.has_name("li") || child.has_name("tr");
            if line && !out.is_empty() && !out.ends_with('\n') {
                out.push('\n');
            }
            code_text(&child, out);
        }
    }
}

/// `language-x`, `lang-x`, `highlight-source-x`, `brush: x`, `sourceCode x` on the block, its `code` or the elements
/// around it.
fn language(element: &NodeRef) -> Option<String> {
    let inner = element.descendants_it().filter(|inner| inner.has_name("code")).take(1);
    for node in std::iter::once(*element).chain(inner).chain(element.ancestors_it(Some(2))) {
        if let Some(language) = node.attr("data-lang").or_else(|| node.attr("data-language")) {
            return plain_name(&language);
        }
        let classes = node.attr("class").unwrap_or_default().to_lowercase().replace(": ", ":");
        let mut tokens = classes.split_whitespace().peekable();
        while let Some(token) = tokens.next() {
            let named = ["language-", "lang-", "highlight-source-", "brush:"]
                .iter()
                .find_map(|prefix| token.strip_prefix(prefix));
            let named = named.or_else(|| (token == "sourcecode").then(|| tokens.peek().copied()).flatten());
            if let Some(name) = named.and_then(plain_name) {
                return Some(name);
            }
        }
    }
    None
}

fn plain_name(name: &str) -> Option<String> {
    let name = name.trim_end_matches(';').to_lowercase();
    let fits = !name.is_empty()
        && name.len() <= 20
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-' | '.'));
    (fits && !matches!(name.as_str(), "none" | "plaintext" | "text" | "plain")).then_some(name)
}

/// Inline text: white space is one space, marks stand at words.
#[derive(Default)]
struct Inline {
    out: String,
}

impl Inline {
    fn finish(self) -> String {
        let lines: Vec<&str> = self.out.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines.join("\n")
    }

    fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                ' ' | '\t' | '\n' | '\r' | '\x0c' => self.space(),
                // Soft hyphens and zero-width spaces only guide a browser's line breaks.
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

    fn element(&mut self, element: &NodeRef) {
        let name = element.node_name().unwrap_or_default();
        match &*name {
            name if SILENT.contains(&name) => {}
            "br" => {
                while self.out.ends_with(' ') {
                    self.out.pop();
                }
                self.out.push('\n');
            }
            "b" | "strong" => self.marked(element, "**"),
            "i" | "em" | "cite" | "var" => self.marked(element, "*"),
            "del" | "s" | "strike" => self.marked(element, "~~"),
            "code" | "kbd" | "samp" | "tt" => self.code(element),
            "a" => self.link(element),
            "img" => self.image(element),
            "q" => {
                self.out.push('"');
                self.children(element);
                self.out.push('"');
            }
            "wbr" => {}
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

    /// The element's own inline text, rendered apart.
    fn apart(element: &NodeRef) -> String {
        let mut inner = Inline::default();
        // So that a leading space is seen.
        inner.out.push('\u{1}');
        inner.children(element);
        inner.out.split_off(1)
    }

    /// Text between marks; spaces at its ends go outside, since marks at a space mark nothing.
    fn marked(&mut self, element: &NodeRef, mark: &str) {
        let inner = Self::apart(element);
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
        let inner = Self::apart(element);
        let text = inner.trim().replace('\n', " ");
        // The sign beside a heading that links to the heading itself.
        let own = element.attr("href").is_some_and(|href| href.trim_start().starts_with('#'));
        if own && !text.contains(char::is_alphanumeric) {
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
        let alt = element.attr("alt").unwrap_or_default();
        let alt: Vec<&str> = alt.split_whitespace().collect();
        let alt = alt.join(" ");
        // A picture without words is nothing to a reader of text.
        if alt.is_empty() {
            return;
        }
        match element.attr("src") {
            Some(source) => self.out.push_str(&image(&alt, &source)),
            None => self.text(&alt),
        }
    }
}

/// Where a link leads, as markdown can hold it; `None` for places on the same page.
fn target(element: &NodeRef) -> Option<String> {
    let target = element.attr("href").filter(|target| !target.starts_with('#') && !target.contains(['\n', ' ']))?;
    Some(target.replace('(', "%28").replace(')', "%29"))
}

/// Brackets in a label that do not match would end it.
fn balanced(label: &str) -> String {
    let mut depth = 0i32;
    let fits = label.chars().all(|c| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        depth >= 0
    });
    if fits && depth == 0 { label.to_owned() } else { label.replace('[', "\\[").replace(']', "\\]") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dom_query::Document;

    fn rendered(html: &str) -> String {
        markdown(&Document::from(html).body().expect("a body"))
    }

    #[test]
    fn inline_marks_stand_at_words() {
        for (html, expected) in [
            ("<p>a<b> bold </b>c</p>", "a **bold** c"),
            ("<p>a <b></b>b <i>c</i><i>d</i></p>", "a b *c*d"),
            ("<p>x <a href='http://a.b/c(d)'>l\n m</a>.</p>", "x [l m](http://a.b/c%28d%29)."),
            ("<p>2 * 3 <code>a  b</code> <code>x`y</code></p>", "2 \\* 3 `a b` `` x`y ``"),
            ("<p>one<br>two</p>", "one\ntwo"),
            ("<h2><a href='#x'>§</a><a href='#x'>Head</a></h2>", "## Head"),
            ("<p># no heading</p>", "\\# no heading"),
            ("<p>a<img src='http://a.b/p.png' alt='A  cat'><img src='x.png'></p>", "a![A cat](http://a.b/p.png)"),
            ("<p>so\u{ad}ft</p>text<div>block</div>", "soft\n\ntext\n\nblock"),
        ] {
            assert_eq!(rendered(html), expected, "{html}");
        }
    }

    #[test]
    fn lists_nest() {
        assert_eq!(
            rendered("<ol start=3><li>three<ul><li>a</li><li><p>b</p><p>c</p></li></ul></li><li>four</li></ol>"),
            "3. three\n   - a\n   - b\n\n     c\n4. four"
        );
        assert_eq!(rendered("<ul><li>a</li><ul><li>b</li></ul></ul>"), "- a\n  - b");
    }

    #[test]
    fn code_keeps_its_lines_and_language() {
        for (html, expected) in [
            (
                "<pre><code class='language-rust'>fn a() {\n    b();\n}\n</code></pre>",
                "```rust\nfn a() {\n    b();\n}\n```",
            ),
            ("<div class='highlight highlight-source-shell'><pre>ls</pre></div>", "```shell\nls\n```"),
            ("<pre class='brush: js'>x<br>y</pre>", "```js\nx\ny\n```"),
            ("<pre><div>one</div><div>two</div></pre>", "```\none\ntwo\n```"),
            ("<pre>a\n```\nb</pre>", "````\na\n```\nb\n````"),
        ] {
            assert_eq!(rendered(html), expected, "{html}");
        }
    }

    #[test]
    fn tables_keep_their_columns() {
        assert_eq!(
            rendered(
                "<table><tr><th>a</th><th colspan=2>b|c</th></tr><tr><td rowspan=2>1</td><td>2</td><td>3</td></tr><tr><td>4</td><td>5</td></tr></table>"
            ),
            "| a | b\\|c |  |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| 1 | 4 | 5 |"
        );
        let layout = "<table><tr><td><h1>T</h1><p>one</p></td><td><table><tr><td>x</td><td>y</td></tr></table></td></tr></table>";
        assert_eq!(rendered(layout), "# T\n\none\n\n| x | y |\n| --- | --- |");
    }

    #[test]
    fn quotes_figures_and_links_around_blocks() {
        assert_eq!(rendered("<blockquote><p>a</p><p>b</p></blockquote>"), "> a\n>\n> b");
        assert_eq!(
            rendered("<figure><img src='http://a.b/p.png' alt='x'><figcaption>The <b>cat</b></figcaption></figure>"),
            "![The cat](http://a.b/p.png)"
        );
        assert_eq!(rendered("<a href='http://a.b'><h3>Head</h3><p>text</p></a>"), "### [Head](http://a.b)\n\ntext");
    }

    #[test]
    fn a_repeated_block_is_written_once() {
        let caption = "<p>A caption that is long enough to be seen as the same.</p>";
        assert_eq!(rendered(&caption.repeat(3)).matches("A caption").count(), 1);
        assert_eq!(rendered("<p>same</p><p>same</p>"), "same\n\nsame");
    }
}
