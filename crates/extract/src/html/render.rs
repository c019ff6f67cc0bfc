//! Markdown of page elements.

use dom_query::{NodeRef, Selection};

use super::code::code_block;
use super::inline::{Inline, balanced, image, target};
use super::measure::{SILENT, is_block, weight};
use super::table;
use crate::blocks::push_escaped;

/// Maximum weight of credits and controls in a figure besides its caption.
const MAX_FIGURE_LABELS: f64 = 80.0;
/// Maximum number of lists and quotations around another one. Each repeats its marks in every line, and markdown
/// readers give up too.
const MAX_INDENTS: usize = 24;
/// Elements of a figure whose caption is a title.
const CAPTIONED: &str = "table, pre, blockquote, math, video, audio";

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

/// Finished blocks and the current paragraph.
#[derive(Default)]
struct Blocks {
    done: Vec<String>,
    paragraph: Inline,
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
        if !block.trim().is_empty() {
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
                let text = text.trim_start_matches(['#', ' ', '\\']);
                if !text.is_empty() {
                    self.push(format!("{} {text}", "#".repeat(level)));
                }
            }
            "blockquote" | "ul" | "ol" | "menu" | "li" if is_too_deep(element) => self.children(element),
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
                let item = list_item("- ", element);
                self.push(item);
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

    /// Renders the images of a figure. Its caption describes the first one; without an image it describes nothing.
    fn figure(&mut self, element: &NodeRef) {
        let figure = Selection::from(*element);
        let caption = figure.select("figcaption").nodes().first().copied();
        let text = caption.map(|caption| one_line(&caption.text())).unwrap_or_default();
        let captioned = caption.map_or(0.0, |caption| weight(&caption.text()));
        let holds_more = weight(&element.text()) > captioned + MAX_FIGURE_LABELS || figure.select(CAPTIONED).exists();
        if text.is_empty() || holds_more {
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

/// Returns true for a list or quotation inside of many others.
fn is_too_deep(element: &NodeRef) -> bool {
    let indents = |node: &NodeRef| ["blockquote", "ul", "ol", "menu"].iter().any(|name| node.has_name(name));
    element.ancestors_it(None).filter(indents).count() >= MAX_INDENTS
}

/// Returns true for a caption outside of a figure that follows or precedes an image.
fn describes_image(caption: &NodeRef) -> bool {
    let around = [caption.prev_element_sibling(), caption.next_element_sibling()];
    around.into_iter().flatten().any(|beside| {
        ["img", "picture"].iter().any(|name| beside.has_name(name)) || Selection::from(beside).select("img").exists()
    })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
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
        // An item may have its own number (HTML, 4.4.8).
        if let Some(own) = child.attr("value").and_then(|value| value.trim().parse().ok()) {
            number = own;
        }
        let item = if (child.has_name("ul") || child.has_name("ol")) && !is_too_deep(&child) {
            // A list directly inside a list, as old editors write it, belongs to the previous item.
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

/// Renders one item: the first line behind the marker, the others indented.
fn list_item(marker: &str, element: &NodeRef) -> String {
    let inner = markdown_of_children(element);
    let indent = " ".repeat(marker.len());
    let mut item = String::new();
    // A nested list follows the text of its item without a blank line.
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
}
