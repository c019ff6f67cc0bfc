//! The text of PDF pages arrives whole, whatever their lines have in common.

use proptest::prelude::*;

use crate::documents::read;
use crate::files::pdf;

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
