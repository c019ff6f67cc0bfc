//! Markdown of page elements.

use dom_query::{NodeRef, Selection};

use super::code::code_block;
use super::inline::{Inline, balanced, image, target};
use super::measure::{SILENT, is_block, weight};
use super::numbers::Numbers;
use super::table;
use crate::blocks::{heading, one_line, push_escaped};

/// Maximum weight of credits and controls in a figure of images, besides its caption.
const MAX_FIGURE_LABELS: f64 = 80.0;
/// Maximum number of lists and quotations around another one. Each repeats its marks in every line, and markdown
/// readers give up too.
const MAX_INDENTS: usize = 24;
/// Elements of a figure whose caption is a title.
const CAPTIONED: &str = "table, pre, blockquote, math, video, audio, figure";

/// Returns an element as markdown, with blank lines between blocks.
pub(super) fn markdown(element: &NodeRef) -> String {
    let mut blocks = Blocks::default();
    blocks.element(element);
    blocks.finish()
}

/// Returns the inline text of an element as one line (table cells, headings), with its blocks joined by `separator`.
pub(super) fn line(element: &NodeRef, separator: &str) -> String {
    let rendered = markdown_of_children(element);
    let lines: Vec<&str> = rendered.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(separator)
}

/// A finished block.
struct Finished {
    text: String,
    is_list: bool,
}

impl Finished {
    /// Returns true for a list that needs no blank line behind a paragraph. A list with another first number does
    /// (CommonMark 0.31, 5.3).
    fn interrupts_paragraph(&self) -> bool {
        self.is_list && (self.text.starts_with("- ") || self.text.starts_with("1. "))
    }
}

/// Finished blocks and the current paragraph.
#[derive(Default)]
struct Blocks {
    done: Vec<Finished>,
    paragraph: Inline,
}

impl Blocks {
    /// Returns the blocks with blank lines between them.
    fn finish(self) -> String {
        self.join(|_| "\n\n")
    }

    /// Returns the blocks of a list item, where a nested list follows the text of its item without a blank line.
    fn finish_item(self) -> String {
        self.join(|block| if block.interrupts_paragraph() { "\n" } else { "\n\n" })
    }

    fn join(mut self, separator: fn(&Finished) -> &'static str) -> String {
        self.end_paragraph();
        let mut out = String::new();
        for block in &self.done {
            if !out.is_empty() {
                out.push_str(separator(block));
            }
            out.push_str(&block.text);
        }
        out
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

    fn push(&mut self, text: String) {
        self.push_block(text, false);
    }

    fn push_list(&mut self, text: String) {
        self.push_block(text, true);
    }

    fn push_block(&mut self, text: String, is_list: bool) {
        if !text.trim().is_empty() {
            self.done.push(Finished { text, is_list });
        }
    }

    fn children(&mut self, element: &NodeRef) {
        element.children_it(false).for_each(|child| self.node(&child));
    }

    fn node(&mut self, node: &NodeRef) {
        if node.is_text() {
            self.paragraph.text(&node.text());
        } else if node.is_element() {
            self.element(node);
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
                self.linked_blocks(element);
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
                let text = without_own_mark(&text);
                if !text.is_empty() {
                    self.push(heading(level, text));
                }
            }
            "blockquote" | "ul" | "ol" | "menu" | "li" if is_too_deep(element) => self.children(element),
            "ul" | "ol" | "menu" => {
                let list = list(element, name == "ol");
                self.push_list(list);
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
            "table" => match table::markdown(element, line) {
                Some(table) => self.push(table),
                None => self.children(element),
            },
            "figure" => self.figure(element),
            "figcaption" if describes_image(element) => {}
            "hr" => self.push("---".to_owned()),
            "dt" => {
                let text = line(element, " ");
                if !text.is_empty() {
                    self.push(format!("**{}**", text.replace("**", "")));
                }
            }
            "li" => {
                let item = list_item("- ", blocks_of_children(element));
                self.push_list(item);
            }
            _ => self.children(element),
        }
        self.end_paragraph();
    }
}

impl Blocks {
    /// Renders a link around blocks: the heading inside, otherwise the first line, becomes the link.
    fn linked_blocks(&mut self, element: &NodeRef) {
        self.end_paragraph();
        let start = self.done.len();
        self.children(element);
        self.end_paragraph();
        let Some(target) = target(element) else { return };
        let blocks = &mut self.done[start..];
        let at = blocks.iter().position(|block| block.text.starts_with('#')).unwrap_or(0);
        let Some(block) = blocks.get_mut(at).map(|block| &mut block.text) else { return };
        if block.contains("](") || block.contains('\n') {
            return;
        }
        let text = block.trim_start_matches('#').trim_start();
        let plain = text.starts_with(|c: char| c.is_alphanumeric());
        if plain {
            let marks = block[..block.len() - text.len()].to_owned();
            *block = format!("{marks}[{}]({target})", balanced(text));
        }
    }

    /// Renders a figure. The caption of images describes the first one; that of other content is text. A caption alone is
    /// dropped.
    fn figure(&mut self, element: &NodeRef) {
        let figure = Selection::from(*element);
        if figure.select(CAPTIONED).exists() {
            self.children(element);
            return;
        }
        let caption = figure.select("figcaption").nodes().first().copied();
        let text = caption.map(|caption| one_line(&caption.text())).unwrap_or_default();
        let captioned = caption.map_or(0.0, |caption| weight(&caption.text()));
        let labels = if figure.select("img[src]").exists() { MAX_FIGURE_LABELS } else { 0.0 };
        if text.is_empty() || weight(&element.text()) > captioned + labels {
            self.children(element);
            return;
        }
        for (at, shown) in figure.select("img").nodes().iter().enumerate() {
            let Some(source) = shown.attr("src") else { continue };
            let alt = shown.attr("alt").map(|alt| one_line(&alt)).unwrap_or_default();
            let description = if at == 0 { &text } else { &alt };
            if !description.is_empty() {
                self.push(image(description, &source));
            }
        }
    }
}

/// Returns the text of a heading without one `#` in front of it, which sites show as the mark of a heading or as a link
/// to it. A `#` at a word belongs to the word.
fn without_own_mark(text: &str) -> &str {
    let rest = text.strip_prefix('\\').unwrap_or(text).strip_prefix('#');
    rest.filter(|rest| rest.is_empty() || rest.starts_with(' ')).map_or(text, str::trim_start)
}

/// Returns true for a list or quotation inside of many others.
fn is_too_deep(element: &NodeRef) -> bool {
    let indents = |node: &NodeRef| ["blockquote", "ul", "ol", "menu"].iter().any(|name| node.has_name(name));
    element.ancestors_it(None).filter(indents).count() >= MAX_INDENTS
}

/// Returns true for a caption outside of a figure that follows or precedes an image.
fn describes_image(caption: &NodeRef) -> bool {
    if caption.ancestors_it(None).any(|around| around.has_name("figure")) {
        return false;
    }
    let around = [caption.prev_element_sibling(), caption.next_element_sibling()];
    around.into_iter().flatten().any(|beside| {
        ["img", "picture"].iter().any(|name| beside.has_name(name)) || Selection::from(beside).select("img").exists()
    })
}

fn markdown_of_children(element: &NodeRef) -> String {
    blocks_of_children(element).finish()
}

fn blocks_of_children(element: &NodeRef) -> Blocks {
    let mut blocks = Blocks::default();
    blocks.children(element);
    blocks
}

fn holds_block(element: &NodeRef) -> bool {
    element.descendants_it().any(|inner| inner.node_name().is_some_and(|name| is_block(&name)))
}

fn list(element: &NodeRef, ordered: bool) -> String {
    let mut parts =
        List { ordered, numbers: Numbers::of(element), before: Blocks::default(), items: Vec::new(), item: None };
    let mut loose = Vec::new();
    for child in element.children_it(false) {
        let name = child.node_name().unwrap_or_default();
        let name: &str = &name;
        if child.is_text() {
            loose.push(child);
        } else if child.is_element() && !SILENT.contains(&name) {
            if !is_block(name) && !holds_block(&child) {
                loose.push(child);
                continue;
            }
            parts.loose(&std::mem::take(&mut loose));
            if ["ul", "ol", "menu"].contains(&name) && !is_too_deep(&child) {
                // A list directly inside a list, as editors in browsers write it, belongs to the previous item.
                parts.current().push_list(list(&child, name == "ol"));
            } else {
                parts.item(&child);
            }
        }
    }
    parts.loose(&loose);
    parts.finish()
}

/// A list up to its current item.
struct List {
    ordered: bool,
    numbers: Numbers,
    /// Blocks in front of the first item.
    before: Blocks,
    /// Finished items.
    items: Vec<String>,
    /// Marker and content of the current item.
    item: Option<(String, Blocks)>,
}

impl List {
    /// Returns the blocks of the current item, or those in front of the first one.
    fn current(&mut self) -> &mut Blocks {
        self.item.as_mut().map_or(&mut self.before, |(_, blocks)| blocks)
    }

    /// Adds text and inline elements between items: a paragraph without a marker, as browsers show it. Several elements
    /// without text between them, such as links that a style sheet shows below each other, are items.
    fn loose(&mut self, nodes: &[NodeRef]) {
        let elements = || nodes.iter().filter(|node| node.is_element());
        let texts = elements().filter(|element| !element.text().trim().is_empty()).count();
        if texts > 1 && !nodes.iter().any(NodeRef::is_nonempty_text) {
            for element in elements() {
                self.item(element);
            }
            return;
        }
        let blocks = self.current();
        for node in nodes {
            blocks.node(node);
        }
        blocks.end_paragraph();
    }

    fn item(&mut self, element: &NodeRef) {
        self.numbers.set(element.attr("value").as_deref());
        let mut blocks = Blocks::default();
        if element.node_name().is_some_and(|name| is_block(&name)) {
            blocks.children(element);
        } else {
            blocks.element(element);
        }
        blocks.end_paragraph();
        // An empty item has a number too.
        if element.has_name("li") || !blocks.done.is_empty() {
            self.end_item();
            self.item = Some((self.numbers.marker(self.ordered), blocks));
            self.numbers.advance();
        }
    }

    fn end_item(&mut self) {
        let item = self.item.take().map(|(marker, blocks)| list_item(&marker, blocks));
        self.items.extend(item.filter(|item| !item.is_empty()));
    }

    fn finish(mut self) -> String {
        self.end_item();
        self.before.push_list(self.items.join("\n"));
        self.before.finish()
    }
}

/// Renders one item: the first line behind the marker, the others indented.
fn list_item(marker: &str, content: Blocks) -> String {
    let item = indented(&content.finish_item(), marker.len());
    item.get(marker.len()..).map_or_else(String::new, |text| format!("{marker}{text}"))
}

/// Indents all lines but blank ones.
fn indented(lines: &str, width: usize) -> String {
    let indent = " ".repeat(width);
    let indent_line = |line: &str| if line.is_empty() { String::new() } else { format!("{indent}{line}") };
    lines.lines().map(indent_line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use dom_query::Document;

    fn rendered(html: &str) -> String {
        markdown(&Document::from(html).body().expect("a body"))
    }

    #[test]
    fn inline_markers_are_adjacent_to_words() {
        for (html, expected) in [
            ("<p>a<b> bold </b>c</p>", "a **bold** c"),
            ("<p>a <b></b>b <i>c</i><i>d</i></p>", "a b *c*d"),
            ("<p>x <a href='http://a.b/c(d)'>l\n m</a>.</p>", "x [l m](http://a.b/c%28d%29)."),
            ("<p>2 * 3 <code>a  b</code> <code>x`y</code></p>", "2 * 3 `a b` `` x`y ``"),
            ("<h1>The &lt;table&gt; element</h1>", "# The \\<table> element"),
            ("<p>10*20*30, \\d+\\.\\d, __init__, &amp;lt;</p>", "10\\*20\\*30, \\d+\\\\.\\d, \\_\\_init__, \\&lt;"),
            (
                "<p>R&amp;<b>D;</b> C:\\<i>a</i> <b>5*</b> so!<a href='x'>y</a></p>",
                "R&**D;** C:\\\\*a* **5\\*** so\\![y](x)",
            ),
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
    fn code_side_by_side_is_one_span() {
        for (html, expected) in [
            ("<code>std::</code><code>vector</code>", "`std::vector`"),
            ("<code>a</code><wbr><span><kbd>b</kbd></span><code></code><tt>c</tt>", "`abc`"),
            ("<code>a`</code><code>b</code>", "`` a`b ``"),
            ("<code>a </code><code>b</code><code> c</code>", "`a` `b` `c`"),
            ("x<code> y\n</code>z<code> </code>", "x `y` z"),
            ("<b>a</b><code>x</code><b>b</b>", "**a**`x`**b**"),
            ("<b><code>a</code></b><code>b</code>", "**`a`**`b`"),
            ("`<code>a</code>`\\<code>b</code>", "\\``a`\\`\\\\`b`"),
        ] {
            assert_eq!(rendered(&format!("<p>{html}</p>")), expected, "{html}");
        }
    }

    #[test]
    fn code_keeps_its_words_and_backticks() {
        for (html, expected) in [
            ("<code>npm install<br>npm start</code>", "`npm install npm start`"),
            ("<code>a``b</code> <code>`</code>", "``` a``b ``` `` ` ``"),
            ("<code>```</code>", "```` ``` ````"),
        ] {
            assert_eq!(rendered(&format!("<p>{html}</p>")), expected, "{html}");
        }
    }

    #[test]
    fn lists_nest() {
        assert_eq!(
            rendered("<ol start=3><li>three<ul><li>a</li><li><p>b</p><p>c</p></li></ul></li><li>four</li></ol>"),
            "3. three\n   - a\n   - b\n\n     c\n4. four"
        );
        assert_eq!(rendered("<ul><li>a</li><ul><li>b</li></ul></ul>"), "- a\n  - b");
        assert_eq!(rendered("<ul><li>a<ol><li>b</li></ol></li></ul>"), "- a\n  1. b");
        assert_eq!(rendered("<ul><li>a<ol start=3><li>b</li></ol></li></ul>"), "- a\n\n  3. b");
    }

    #[test]
    fn lists_keep_text_between_their_items() {
        for (html, expected) in [
            ("<ul>Do <b>not</b> mix these:<li>bleach<li>acid</ul>", "Do **not** mix these:\n\n- bleach\n- acid"),
            ("<ul>only text</ul>", "only text"),
            ("<ul>a<ul>b <a href='http://x.y'>c</a><ul>d</ul></ul></ul>", "a\n\nb [c](http://x.y)\n\nd"),
            ("<ol><li>a</li>text <!-- x --><i>c</i><br>more<li>b</li></ol>", "1. a\n\n   text *c*\n   more\n2. b"),
            ("<ol><li>a</li><ul>b<li>c</li></ul>d<li>e</li></ol>", "1. a\n\n   b\n\n   - c\n\n   d\n2. e"),
            ("<ul><li>a</li><ol start=3><li>b</li></ol></ul>", "- a\n\n  3. b"),
            ("<ul><ul><li>a</li></ul>b<li>c</li></ul>", "- a\n\nb\n\n- c"),
            ("<ul><li></li>a</ul>", "- a"),
            ("<ul># a<li>b</ul>", "\\# a\n\n- b"),
            ("<ul><b>a</b><br><li>b</li></ul>", "**a**\n\n- b"),
            ("<ul><a href='http://x.y'>a</a> <a href='http://x.z'>b</a></ul>", "- [a](http://x.y)\n- [b](http://x.z)"),
            ("<ul>&nbsp;\n<li>a</li> <br></ul>", "- a"),
            ("<ul><script>x()</script><li>a</li><button><div>b</div></button></ul>", "- a"),
        ] {
            assert_eq!(rendered(html), expected, "{html}");
        }
    }

    #[test]
    fn code_in_items_keeps_its_blank_lines() {
        assert_eq!(
            rendered("<ol><li>Write:<pre>a:\n\n- b\n\n1. c</pre></li></ol>"),
            "1. Write:\n\n   ```\n   a:\n\n   - b\n\n   1. c\n   ```"
        );
    }

    #[test]
    fn headings_keep_the_hash_of_a_word() {
        for (html, expected) in [
            ("#MeToo and the law", "## #MeToo and the law"),
            ("#1 Song", "## #1 Song"),
            ("# Head", "## Head"),
            ("## Head", "## \\## Head"),
            ("<b>#</b> Head", "## **#** Head"),
            ("#", ""),
        ] {
            assert_eq!(rendered(&format!("<h2>{html}</h2>")), expected, "{html}");
        }
    }

    #[test]
    fn items_have_the_numbers_that_browsers_show() {
        for (html, expected) in [
            ("<ol><li>a</li><ol><li>b</li></ol><li>c</li></ol>", "1. a\n   1. b\n2. c"),
            ("<ol start=10><li>a</li><ul><li>b</li></ul><li>c</li></ol>", "10. a\n    - b\n11. c"),
            ("<ol><li>a</li><li></li><li>c</li></ol>", "1. a\n3. c"),
            ("<ol reversed><li>a</li><li>b</li><ol><li>c</li></ol><li>d</li></ol>", "3. a\n2. b\n   1. c\n1. d"),
            ("<ol reversed start=5><li>a</li><li value=2>b</li><li>c</li></ol>", "5. a\n2. b\n1. c"),
            ("<ol start=-1><li>a</li><li>b</li><li>c</li></ol>", "0. a\n0. b\n1. c"),
            ("<ol start=9999999999><li>a</li></ol>", "999999999. a"),
            ("<ol start=1e400><li>a</li></ol>", "1. a"),
        ] {
            assert_eq!(rendered(html), expected, "{html}");
        }
    }

    #[test]
    fn raised_and_lowered_text_does_not_change_the_word_before_it() {
        for (html, expected) in [
            ("10<sup>6</sup>", "10<sup>6</sup>"),
            ("2<sup>10</sup> = 1024", "2<sup>10</sup> = 1024"),
            ("<i>E</i> = <i>mc</i><sup>2</sup>", "*E* = *mc*<sup>2</sup>"),
            ("(a + b)<sup>2 </sup>c", "(a + b)<sup>2</sup> c"),
            ("10<sup>−6</sup> 2<sup><i>n</i></sup>", "10<sup>−6</sup> 2<sup>*n*</sup>"),
            ("a word<sup>1</sup>", "a word<sup>1</sup>"),
            ("10<sub>2</sub>, x<sub>n+1</sub>", "10<sub>2</sub>, x<sub>n+1</sub>"),
            ("H<sub>2</sub>O, Ca(OH)<sub>2</sub>", "H2O, Ca(OH)2"),
            ("the 1<sup>st</sup>, le 2<sup>e</sup>", "the 1st, le 2e"),
            ("a word<sup><a href='#n'>1</a></sup>", "a word1"),
            ("a word<a href='#n'><sup>1</sup></a>", "a word1"),
            ("in 1987<sup id='r'><a href='#n'>2</a></sup> and", "in 1987<sup>2</sup> and"),
            ("in <b>1987</b><a href='#n'><sup>2</sup></a> and", "in **1987**<sup>2</sup> and"),
            ("cost 4.5<a href='http://a.b/c'><i><sup>3</sup></i></a>", "cost 4.5[*<sup>3</sup>*](http://a.b/c)"),
            ("in 1987<sup><a href='#n'>[2]</a></sup>", "in 1987[2]"),
            ("in 1987<a href='#n'><sup>[2]</sup></a>", "in 1987[2]"),
            ("in 1987 <a href='#n'><sup>2</sup></a>", "in 1987 2"),
            ("the 1<sup><a href='#n'>st</a></sup>", "the 1st"),
            ("10<b><sup>6</sup></b>", "10**<sup>6</sup>**"),
            ("a word <sup>1</sup>", "a word 1"),
            ("Pump<sup>®</sup>", "Pump®"),
            ("the end.<sup>1</sup>", "the end.1"),
        ] {
            assert_eq!(rendered(&format!("<p>{html}</p>")), expected, "{html}");
        }
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
    fn line_numbers_are_no_code() {
        let styled = |text: &str| format!("<span style='white-space:pre; USER-SELECT: none'>{text}</span>");
        for (html, expected) in [
            (
                "<span class=line><span class=ln>1</span><span class=cl>package main\n</span></span>\
                 <span class=line><span class=ln> 2</span><span class=cl>var n\n</span></span>"
                    .to_owned(),
                "```\npackage main\nvar n\n```",
            ),
            (format!("{}a\n{}b", styled("1 "), styled("2\n")), "```\na\nb\n```"),
            (format!("{}ls {}", styled("$ "), styled("")), "```\n$ ls\n```"),
            ("<span class=ln>x1</span> = <span class=mi>1</span>".to_owned(), "```\nx1 = 1\n```"),
        ] {
            assert_eq!(rendered(&format!("<pre><code>{html}</code></pre>")), expected, "{html}");
        }
        assert_eq!(
            rendered(
                "<table class=lntable><tr><td class=lntd><pre><code><span class=lnt>1\n</span><span class=lnt>2\n</span></code></pre></td>\
                 <td class=lntd><pre><code class=language-go>var n\nvar m</code></pre></td></tr></table>"
            ),
            "```go\nvar n\nvar m\n```"
        );
    }

    #[test]
    fn figures_keep_their_text_and_captions() {
        let city = |name: &str| format!("<figure><img src={name}.jpg alt=''><figcaption>{name}</figcaption></figure>");
        let gallery = ["Paris", "London", "Rome"].map(city).concat();
        let images = "![Paris](Paris.jpg)\n\n![London](London.jpg)\n\n![Rome](Rome.jpg)";
        let story = "The bridge was built of oak in one summer. ".repeat(3);
        let story = story.trim_end();
        for (html, expected) in [
            ("<p>Be yourself.</p><figcaption>Oscar Wilde</figcaption>", "Be yourself.\n\nOscar Wilde".to_owned()),
            ("<figcaption>Steps</figcaption><ul><li>a<li>b</ul>", "Steps\n\n- a\n- b".to_owned()),
            ("<code>ls</code><img alt=''><figcaption>List</figcaption>", "`ls`\n\nList".to_owned()),
            (&gallery, images.to_owned()),
            (&format!("{gallery}<figcaption>Cities</figcaption>"), format!("{images}\n\nCities")),
            (&format!("<figure>{gallery}</figure>"), images.to_owned()),
            (
                &format!("<p>{story}</p><img src=b.jpg alt=''><figcaption>The bridge</figcaption>"),
                format!("{story}\n\nThe bridge"),
            ),
            ("<img src=b.jpg><p>Photo: Ann</p><figcaption>The bridge</figcaption>", "![The bridge](b.jpg)".to_owned()),
            ("<div></div><figcaption>A film</figcaption>", String::new()),
            ("<img alt='A cat'><figcaption>A cat</figcaption>", String::new()),
        ] {
            assert_eq!(rendered(&format!("<figure>{html}</figure>")), expected, "{html}");
        }
        assert_eq!(rendered("<div><img src=b.jpg><figcaption>The bridge</figcaption></div>"), "");
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
}
