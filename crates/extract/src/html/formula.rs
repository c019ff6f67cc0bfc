//! Formulas as TeX source, which readers and models understand better than a row of glyphs.

use dom_query::{Document, NodeRef, Selection};

use super::mathml;
use crate::blocks::one_line;
use crate::literal;

/// Starts of the class names of formulas that MathJax has drawn, and of previews.
const DRAWN: [&str; 3] = ["MathJax", "MJXc-", "mjx-"];

/// Replaces scripts with the TeX source of a formula, as kramdown and MathJax 2 write them, by the formula. What MathJax
/// has drawn in front of a script shows the same formula and is removed.
pub(super) fn replace_scripts(page: &Document) {
    for script in page.select("script[type^='math/tex' i]").nodes() {
        let content = script.text();
        let source = tex_source(&content);
        if source.is_empty() {
            continue;
        }
        let before = std::iter::successors(script.prev_sibling(), NodeRef::prev_sibling);
        let shown = before.filter(|node| !node.is_text() || node.is_nonempty_text());
        let drawn: Vec<NodeRef> = shown.take_while(is_drawn).collect();
        for node in drawn {
            node.remove_from_parent();
        }
        let math = script.tree.new_element("math");
        if is_display(script) {
            math.set_attr("display", "block");
        }
        // As content, not as an attribute: the formula may be all text of its paragraph.
        let annotation = script.tree.new_element("annotation");
        annotation.set_attr("encoding", "application/x-tex");
        annotation.set_text(source);
        math.append_child(&annotation);
        script.replace_with(&math);
    }
}

/// Returns the content of a script without the marks that hide it from parsers of XML.
fn tex_source(content: &str) -> &str {
    let content = content.trim();
    let hidden = content.strip_prefix("% <![CDATA[").and_then(|rest| rest.strip_suffix("%]]>"));
    hidden.map_or(content, str::trim)
}

/// Returns true for a script with a formula that has a paragraph of its own.
fn is_display(script: &NodeRef) -> bool {
    let kind = script.attr("type").unwrap_or_default().to_ascii_lowercase();
    kind.split_whitespace().collect::<String>().contains(";mode=display")
}

fn is_drawn(node: &NodeRef) -> bool {
    let classes = node.attr("class").unwrap_or_default();
    classes.split_whitespace().any(|class| DRAWN.iter().any(|start| class.starts_with(start)))
}

/// Returns TeX between dollar signs if the page has it (`alttext`, annotation), otherwise the formula as text.
pub(super) fn markdown(math: &NodeRef) -> String {
    let annotation = || {
        let annotations = Selection::from(*math).select("annotation[encoding*=tex i]");
        annotations.nodes().first().map(|annotation| annotation.text().to_string())
    };
    let source = annotation().or_else(|| math.attr("alttext").map(|source| source.to_string()));
    match source.as_deref().map(one_line).filter(|source| !source.is_empty()) {
        Some(source) if math.attr("display").as_deref() == Some("block") => format!("$${source}$$"),
        Some(source) => format!("${source}$"),
        None => {
            let mut out = String::new();
            // More formula or emphasis may follow.
            literal::push_part(&one_line(&mathml::text(math)), Some('*'), &mut out);
            out
        }
    }
}

/// Returns the source of a formula shown as an image, from its alternative text.
pub(super) fn of_image(image: &NodeRef) -> Option<String> {
    let classes = image.attr("class")?.to_ascii_lowercase();
    let drawn = classes
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| matches!(word, "math" | "mwe" | "tex" | "latex" | "equation"));
    let source = one_line(&image.attr("alt").filter(|_| drawn)?);
    (!source.is_empty()).then(|| format!("${source}$"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_with_source_are_formulas() {
        let drawn = "<span class='MathJax_Preview'></span> <span class='a MathJax'>x</span>";
        for (html, expected) in [
            ("a <script type='math/tex'>m_0 < 1</script> b".to_owned(), "a $m_0 < 1$ b"),
            ("<script type='Math/TeX; mode=display'>m\n^2</script>".to_owned(), "$$m ^2$$"),
            ("<script type='math/tex'>% <![CDATA[\na & b %]]></script>".to_owned(), "$a & b$"),
            (format!("a {drawn}<script type='math/tex'>y</script> b"), "a $y$ b"),
            (format!("{drawn} a <script type='math/tex'>y</script>"), "x a $y$"),
            ("a<script type='math/tex'> </script><script>b</script>".to_owned(), "a"),
        ] {
            let page = Document::from(format!("<body><p>{html}</p></body>"));
            replace_scripts(&page);
            page.select("script").remove();
            assert_eq!(crate::html::render::markdown(&page.body().expect("a body")), expected, "{html}");
        }
    }

    #[test]
    fn formulas_without_source_are_text() {
        for (formula, expected) in [
            ("<mfrac><mn>1</mn><mn>2</mn></mfrac>", "1/2"),
            ("<mi>a</mi><mo>*</mo><mi>b</mi><mo>&lt;</mo><mi>c</mi>", "a\\*b\\<c"),
            ("<mi>x</mi><annotation encoding='application/x-tex'>y</annotation>", "$y$"),
            ("", ""),
        ] {
            let page = format!("<math>{formula}</math>");
            let document = Document::from(page.as_str());
            let found = document.select("math");
            assert_eq!(markdown(found.nodes().first().expect("a formula")), expected, "{formula}");
        }
    }
}
