//! Formulas as TeX source, which readers and models understand better than a row of glyphs.

use dom_query::{NodeRef, Selection};

/// Returns TeX between dollar signs if the page has it (`alttext`, annotation), otherwise the glyphs.
pub(super) fn markdown(math: &NodeRef) -> String {
    let annotation = || {
        let annotations = Selection::from(*math).select("annotation[encoding*=tex i]");
        annotations.nodes().first().map(|annotation| annotation.text().to_string())
    };
    let source = annotation().or_else(|| math.attr("alttext").map(|source| source.to_string()));
    match source.as_deref().and_then(one_line) {
        Some(source) if math.attr("display").as_deref() == Some("block") => format!("$${source}$$"),
        Some(source) => format!("${source}$"),
        None => one_line(&math.text()).unwrap_or_default(),
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
