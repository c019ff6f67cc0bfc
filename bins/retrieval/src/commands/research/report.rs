use retrieval_client::types::{ResearchCitation, ResearchFormat, ResearchOutput};

use crate::api_values;
use crate::terminal::appearance::{Appearance, Style};
use crate::terminal::text::{fit, one_line, sanitize_json, wrap};

const INDENT: &str = "     ";
/// Maximum line length for comfortable reading on wide terminals.
const MAX_TEXT_WIDTH: usize = 100;

/// Returns the text of a report, or its JSON.
pub fn body(output: &ResearchOutput) -> String {
    match (&output.structured, output.format) {
        (Some(value), _) => sanitize_json(&format!("{value:#}")),
        (None, ResearchFormat::Structured) => "the sources do not fill the schema".to_owned(),
        (None, ResearchFormat::Markdown | ResearchFormat::Text) => output.text.clone(),
    }
}

/// Returns the numbered sources with their quotes, the basis of fields, and the problems of a structured report.
pub fn sources(output: &ResearchOutput, appearance: &Appearance) -> String {
    let mut text = String::new();
    if !output.citations.is_empty() {
        text.push_str(&format!("\n{}\n", appearance.paint(Style::Title, "Sources")));
    }
    for citation in &output.citations {
        text.push_str(&source(citation, appearance));
    }
    if !output.basis.is_empty() {
        text.push_str(&format!("\n{}\n", appearance.paint(Style::Title, "Basis")));
    }
    for basis in &output.basis {
        let marks: String = basis.citations.iter().map(|n| format!("[{n}]")).collect();
        text.push_str(&format!("{}  {marks}  {}\n", one_line(&basis.field), one_line(&basis.confidence)));
    }
    for problem in &output.problems {
        text.push_str(&format!("{}  {}\n", one_line(&problem.field), one_line(&problem.message)));
    }
    text
}

fn source(citation: &ResearchCitation, appearance: &Appearance) -> String {
    let width = appearance.width.saturating_sub(INDENT.len()).max(20);
    let address = one_line(&citation.canonical_url);
    let title = citation.title.as_deref().map(one_line).filter(|title| !title.is_empty());
    let heading = appearance.paint(Style::Title, &fit(title.as_deref().unwrap_or(&address), width));
    let mark = format!("[{}]", citation.n);
    let mut text = format!("{mark:<4} {heading}\n");
    // Never truncated, so that it can be copied.
    text.push_str(&format!("{INDENT}{}\n", appearance.paint(Style::Address, &address)));
    let mut details = vec![citation.doc_id.to_string(), api_values::wire(&citation.index)];
    let published = citation.published_at.as_deref().map(|at| one_line(at.get(..10).unwrap_or(at)));
    details.extend(published.map(|day| format!("published {day}")));
    text.push_str(&format!("{INDENT}{}\n", appearance.paint(Style::Faint, &details.join("  "))));
    for line in wrap(&one_line(&citation.quote), width.min(MAX_TEXT_WIDTH) - 2) {
        text.push_str(&format!("{INDENT}> {line}\n"));
    }
    text
}
