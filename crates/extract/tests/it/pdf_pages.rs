//! The text of PDF pages arrives whole, whatever their lines have in common.

use proptest::prelude::*;

use crate::documents::read;
use crate::files::{pdf, pdf_of};

fn markdown(pages: &[String]) -> String {
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    read("pages.pdf", &pdf(&pages)).expect("a document").markdown
}

#[test]
fn an_invoice_on_each_page_is_read_word_for_word() {
    let page = |number: usize| {
        format!(
            "Invoice {}\nDate 2024-03-0{number}\nCustomer Anna Berg\nItem Quantity Price\nBolt M8 {} 4.20\nAmount \
             due {} EUR\nTerms 30 days net",
            2_000 + number,
            number * 10,
            number * 42,
        )
    };
    let pages: Vec<String> = (1..=4).map(page).collect();
    let markdown = markdown(&pages);
    for page in &pages {
        for line in page.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            assert!(words.iter().all(|word| markdown.contains(word)), "`{line}` in\n{markdown}");
        }
    }
    assert_eq!(markdown.matches("Anna Berg").count(), 4, "{markdown}");
    assert_eq!(markdown.matches("30 days net").count(), 4, "{markdown}");
}

#[test]
fn sparse_pages_are_not_empty() {
    let pages: Vec<String> = (1..=3).map(|number| format!("Certificate {number}\nAnna Berg")).collect();
    let markdown = markdown(&pages);
    for number in 1..=3 {
        assert!(markdown.contains(&format!("Certificate {number}")), "{markdown}");
    }
    assert_eq!(markdown.matches("Anna Berg").count(), 3, "{markdown}");
}

/// Returns the markdown of pages that repeat a header, 1.2 line distances above a text that goes on over their ends, and a footer.
fn with_marks(header: &str, footer: &str, number: &str) -> String {
    let pages = 4;
    let kids: Vec<String> = (0..pages).map(|page| format!("{} 0 R", 5 + page * 2)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {pages} >>", kids.join(" ")),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
        "<< /Title (Notes) >>".to_owned(),
    ];
    for page in 0..pages {
        let text = |x: usize, y: f32, text: &str| format!("BT /F1 10 Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET\n");
        let artifact =
            |properties: &str, text: String| format!("/Artifact <</Type /Pagination {properties}>> BDC\n{text}EMC\n");
        let line = |line: usize| format!("and line {line} of page {page} of a sentence that never seems to end");
        let body: String = (0..20).map(|at| text(72, 740.0 - at as f32 * 12.5, &line(at))).collect();
        let content = [
            artifact(header, text(72, 755.0, "Monthly notes")),
            body,
            artifact(footer, text(72, 487.5, "notes.html")),
            artifact(number, text(500, 487.5, &format!("{}/{pages}", page + 1))),
        ]
        .concat();
        let resources = "<< /Font << /F1 3 0 R >> >>";
        let contents = 6 + page * 2;
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources {resources} /Contents {contents} 0 R >>"
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    read("notes.pdf", &pdf_of(&objects)).expect("a document").markdown
}

#[test]
fn marked_headers_and_footers_do_not_interrupt_sentences() {
    let markdown = with_marks("/Subtype /Header", "/Subtype /Footer", "");
    let paragraphs: Vec<&str> = markdown.trim_end().split("\n\n").collect();
    let [header, footer, text] = paragraphs[..] else { panic!("{markdown}") };
    assert_eq!([header, footer], ["Monthly notes", "notes.html 1/4"]);
    assert!(text.starts_with("and line 0 of page 0") && text.contains("to end and line 0 of page 3"), "{markdown}");
    // Marks of other types say nothing about a place in the margin.
    let markdown = with_marks("", "/Subtype /Watermark", "");
    assert_eq!(markdown.matches("Monthly notes").count(), 4, "{markdown}");
    assert_eq!(markdown.matches("notes.html").count(), 4, "{markdown}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Lines that every page has, lines with a number of their own, lines of one page: all words of all pages are there,
    /// each as often as it was written.
    #[test]
    fn all_words_of_all_pages_are_in_the_markdown(
        pages in 1..8usize,
        kinds in prop::collection::vec(0..4u8, 1..40),
        words in 1..7usize,
    ) {
        let word = |page: usize, line: usize, word: usize| match kinds[line] {
            0 => format!("same{line}x{word}"),
            1 => format!("{}", 1_000 + line * 37 + page * 11 + word),
            2 => format!("own{page}x{line}x{word}"),
            _ => format!("Total{line}x{}", page * 3 + word),
        };
        let text: Vec<Vec<String>> = (0..pages)
            .map(|page| (0..kinds.len()).flat_map(|line| (0..words).map(move |w| (page, line, w))).map(|(p, l, w)| word(p, l, w)).collect())
            .collect();
        let sources: Vec<String> = text
            .iter()
            .map(|page| page.chunks(words).map(|line| line.join(" ")).collect::<Vec<_>>().join("\n"))
            .collect();
        let markdown = markdown(&sources);
        let found: Vec<&str> = markdown.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let mut counts = std::collections::HashMap::<&str, i64>::new();
        found.iter().for_each(|word| *counts.entry(word).or_default() += 1);
        for word in text.iter().flatten() {
            *counts.entry(word).or_default() -= 1;
        }
        let missing: Vec<_> = counts.iter().filter(|(_, count)| **count < 0).collect();
        prop_assert!(missing.is_empty(), "missing {missing:?} in\n{markdown}");
    }
}
