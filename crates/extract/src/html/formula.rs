//! Formulas as TeX source, which readers and models understand better than a row of glyphs.

use dom_query::{NodeRef, Selection};

use super::mathml;
use crate::literal;

/// Returns TeX between dollar signs if the page has it (`alttext`, annotation), otherwise the formula as text.
pub(super) fn markdown(math: &NodeRef) -> String {
    let annotation = || {
        let annotations = Selection::from(*math).select("annotation[encoding*=tex i]");
        annotations.nodes().first().map(|annotation| annotation.text().to_string())
    };
    let source = annotation().or_else(|| math.attr("alttext").map(|source| source.to_string()));
    match source.as_deref().and_then(one_line) {
        Some(source) if math.attr("display").as_deref() == Some("block") => format!("$${source}$$"),
        Some(source) => format!("${source}$"),
        None => {
            let mut out = String::new();
            // More formula or emphasis may follow.
            literal::push_part(&one_line(&mathml::text(math)).unwrap_or_default(), Some('*'), &mut out);
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
    let source = image.attr("alt").filter(|_| drawn)?;
    one_line(&source).map(|source| format!("${source}$"))
}

fn one_line(source: &str) -> Option<String> {
    let line = source.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dom_query::Document;

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
