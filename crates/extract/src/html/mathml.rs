//! Formulas of MathML as one line of text, for pages without their TeX source.

use dom_query::NodeRef;

use crate::blocks::one_line;
use crate::formula::{self, Binding, Part};

/// Maximum depth to which the structure of a formula is written; deeper parts are written as their glyphs.
const MAX_DEPTH: usize = 48;

/// Returns the formula with its structure: `1/2`, `10^6`, `x_i`, `√(a+b)`. Marks of markdown are not escaped.
pub(super) fn text(math: &NodeRef) -> String {
    row(math, 0).text
}

fn part(node: &NodeRef, depth: usize) -> Part {
    let name = node.node_name().unwrap_or_default();
    if node.is_text() || depth >= MAX_DEPTH {
        return leaf(node);
    }
    let children = node.element_children();
    let child = |at: usize| children.get(at).map(|child| part(child, depth + 1)).unwrap_or_default();
    match &*name {
        "mi" | "mn" | "mo" | "mtext" | "ms" => leaf(node),
        "mspace" => Part::new(" ".to_owned(), Binding::Row),
        "annotation" | "annotation-xml" | "mphantom" | "none" | "mprescripts" => Part::default(),
        "semantics" | "maction" => child(0),
        // A stack without a line, as of a binomial coefficient, is no quotient.
        "mfrac" if node.attr("linethickness").is_some_and(|width| width.trim().starts_with('0')) => {
            joined(&children, depth, "; ")
        }
        "mfrac" => formula::quotient(child(0), child(1)),
        "msub" | "munder" => formula::scripted(child(0), [(child(1), Part::default())]),
        "msup" => formula::scripted(child(0), [(Part::default(), child(1))]),
        "mover" => formula::over(child(0), child(1)),
        "msubsup" | "munderover" => formula::scripted(child(0), [(child(1), child(2))]),
        "mmultiscripts" => multiscripts(&children, depth),
        "msqrt" => formula::root(row(node, depth), Part::default()),
        "mroot" => formula::root(child(0), child(1)),
        "mfenced" => fenced(node, &children, depth),
        "mtable" => joined(&children, depth, "; "),
        "mtr" | "mlabeledtr" => joined(&children, depth, " "),
        _ => row(node, depth),
    }
}

/// Writes the text of an element without its structure, and without the operators that are not shown.
fn leaf(node: &NodeRef) -> Part {
    let shown = formula::shown(&node.text());
    Part::new(one_line(&shown), Binding::Atom)
}

/// Writes the children one after the other.
fn row(node: &NodeRef, depth: usize) -> Part {
    let children = node.children_it(false).filter(|child| child.is_text() || child.is_element());
    formula::row(children.map(|child| part(&child, depth + 1)))
}

/// Writes the texts of the children with a separator, without those that are empty.
fn joined(children: &[NodeRef], depth: usize, separator: &str) -> Part {
    formula::joined(children.iter().map(|child| part(child, depth + 1)), separator)
}

fn fenced(node: &NodeRef, children: &[NodeRef], depth: usize) -> Part {
    let given = |name: &str, default: &str| node.attr(name).map_or_else(|| default.to_owned(), |mark| mark.to_string());
    let separator = given("separators", ",").chars().find(|c| !c.is_whitespace());
    let separator = separator.map_or_else(|| " ".to_owned(), |mark| format!("{mark} "));
    let content = joined(children, depth, &separator).text;
    Part::new(format!("{}{content}{}", given("open", "(").trim(), given("close", ")").trim()), Binding::Atom)
}

/// Writes a base with any number of pairs of scripts behind it, and in front of it.
fn multiscripts(children: &[NodeRef], depth: usize) -> Part {
    let pairs = |nodes: &[NodeRef]| -> Vec<(Part, Part)> {
        let written = |node: Option<&NodeRef>| node.map(|node| part(node, depth + 1)).unwrap_or_default();
        nodes.chunks(2).map(|pair| (written(pair.first()), written(pair.get(1)))).collect()
    };
    let Some((base, scripts)) = children.split_first() else { return Part::default() };
    let front = scripts.iter().position(|child| child.has_name("mprescripts")).unwrap_or(scripts.len());
    let (behind, front) = scripts.split_at(front);
    let base = formula::scripted(part(base, depth + 1), pairs(behind));
    formula::prescripted(base, pairs(front.get(1..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dom_query::Document;

    fn written(formula: &str) -> String {
        let page = format!("<math>{formula}</math>");
        let document = Document::from(page.as_str());
        let found = document.select("math");
        text(found.nodes().first().expect("a formula"))
    }

    #[test]
    fn formulas_keep_their_structure() {
        for (formula, expected) in [
            ("<mfrac><mn>1</mn><mn>2</mn></mfrac>", "1/2"),
            ("<mn>1</mn><mfrac><mn>1</mn><mn>2</mn></mfrac><mi>x</mi>", "1 1/2 x"),
            (
                "<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><msup><mi>c</mi><mn>2</mn></msup></mfrac>",
                "(a+b)/c^2",
            ),
            ("<mfrac linethickness=0><mi>n</mi><mi>k</mi></mfrac>", "n; k"),
            ("<msup><mn>10</mn><mn>6</mn></msup><mi>m</mi>", "10^6 m"),
            ("<msup> <mn>10</mn> <mrow><mo>−</mo><mn>6</mn></mrow> </msup>", "10^(−6)"),
            ("<msup><mrow><mo>(</mo><mi>a</mi><mo>)</mo></mrow><mn>2</mn></msup>", "(a)^2"),
            ("<msup><msup><mi>a</mi><mi>b</mi></msup><mi>c</mi></msup>", "(a^b)^c"),
            ("<msup><mi>f</mi><mo>′</mo></msup>", "f′"),
            ("<msub><mi>x</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub>", "x_(ij)"),
            ("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>", "x_i^2"),
            (
                "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mi>i</mi>",
                "∑_(i=1)^n i",
            ),
            ("<mover><mi>x</mi><mo>¯</mo></mover>", "x\u{304}"),
            ("<msqrt><mn>2</mn></msqrt>", "√2"),
            ("<msqrt><mi>a</mi><mo>+</mo><mi>b</mi></msqrt>", "√(a+b)"),
            ("<mroot><mi>x</mi><mn>3</mn></mroot>", "x^(1/3)"),
            ("<mfenced><mi>a</mi><mi>b</mi></mfenced>", "(a, b)"),
            (
                "<mo>[</mo><mtable><mtr><mtd>1</mtd><mtd>2</mtd></mtr><mtr><mtd>3</mtd></mtr></mtable><mo>]</mo>",
                "[1 2; 3]",
            ),
            ("<mmultiscripts><mi>C</mi><mprescripts/><mn>6</mn><mn>14</mn></mmultiscripts>", "_6^14 C"),
            ("<mi>sin</mi><mo>\u{2061}</mo><mi>x</mi><mi>y</mi>", "sin xy"),
            ("<semantics><mi>a</mi><annotation>b</annotation></semantics>", "a"),
        ] {
            assert_eq!(written(formula), expected, "{formula}");
        }
    }

    #[test]
    fn deep_formulas_keep_their_glyphs() {
        let formula = format!("{}<mn>2</mn><mn>3</mn>", "<msqrt>".repeat(300));
        assert!(written(&formula).contains("23"));
    }
}
