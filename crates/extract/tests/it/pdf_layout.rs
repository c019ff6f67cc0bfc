//! Raised and turned text of PDF pages, and hyphens.

use crate::documents::read;
use crate::files::pdf_of;

/// Returns the markdown of a page with a content stream.
fn markdown(content: &str) -> String {
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [5 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
        "<< /Title (Notes) >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents 6 0 R >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
    ];
    read("page.pdf", &pdf_of(&objects)).expect("a document").markdown
}

fn text(size: u8, matrix: &str, text: &str) -> String {
    format!("BT /F1 {size} Tf {matrix} Tm ({text}) Tj ET\n")
}

#[test]
fn exponents_are_no_part_of_their_number() {
    let raised = |raised: &str| format!("/F1 6 Tf 4 Ts ({raised}) Tj /F1 10 Tf 0 Ts ");
    let page = [
        "BT /F1 10 Tf 1 0 0 1 72 700 Tm (10) Tj ".to_owned(),
        raised("6"),
        "( cells on the 1) Tj ".to_owned(),
        raised("st"),
        "ET\n".to_owned(),
    ];
    let markdown = markdown(&page.concat());
    assert!(markdown.starts_with("10<sup>6</sup> cells"), "{markdown}");
    assert_eq!(markdown.matches("<sup>").count(), 1, "{markdown}");
}

#[test]
fn turned_text_follows_the_text_of_its_page() {
    let line = |number: u16| {
        let matrix = format!("1 0 0 1 72 {}", 740 - number * 12);
        text(10, &matrix, "Figures of the year, in thousands of euros")
    };
    let mut page: String = (0..4).map(line).collect();
    page += &text(10, "0 1 -1 0 100 600", "Revenue of sales");
    page += &text(10, "0 1 -1 0 160 600", "Costs");
    page += &text(10, "0 -1 1 0 560 600", "In the margin");
    page += &text(10, "0.7071 0.7071 -0.7071 0.7071 200 300", "DRAFT");
    page += &text(10, "1 0 0 1 72 500", "The end.");
    let markdown = markdown(&page);
    assert!(markdown.ends_with("The end.\n\nRevenue of sales\n\nCosts\n\nIn the margin\n"), "{markdown}");
    assert!(!markdown.contains("DRAFT"), "{markdown}");
}

#[test]
fn soft_hyphens_that_are_drawn_are_hyphens() {
    let mut page = text(10, "1 0 0 1 72 700", "On 2023\\25506\\25515 a well\\255known part of the para\\255");
    page += &text(10, "1 0 0 1 72 688", "graph was changed, and it is in the corpus of COVID\\255");
    page += &text(10, "1 0 0 1 72 676", "19 patients who were seen in the clinics of Baden-");
    page += &text(10, "1 0 0 1 72 664", "Baden.");
    let markdown = markdown(&page);
    for part in ["2023-06-15", "well-known", "the paragraph was", "of COVID-19 patients", "Baden-Baden."] {
        assert!(markdown.contains(part), "{part}: {markdown}");
    }
}
