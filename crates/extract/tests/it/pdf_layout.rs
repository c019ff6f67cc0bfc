//! Raised, large and turned text of PDF pages, and hyphens.

use crate::documents::read;
use crate::files::pdf_of;

/// Returns the markdown of a page with a content stream.
fn markdown(content: &str) -> String {
    markdown_of("", content)
}

/// Returns the markdown of a page with further entries and a content stream.
fn markdown_of(entries: &str, content: &str) -> String {
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [5 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
        "<< /Title (Notes) >>".to_owned(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] {entries} /Resources << /Font << /F1 3 0 R >> >> \
             /Contents 6 0 R >>"
        ),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
    ];
    read("page.pdf", &pdf_of(&objects)).expect("a document").markdown
}

fn text(size: u8, matrix: &str, text: &str) -> String {
    format!("BT /F1 {size} Tf {matrix} Tm ({text}) Tj ET\n")
}

/// Returns upright text of a size at a position in points.
fn at(x: f32, y: f32, size: f32, text: &str) -> String {
    format!("BT /F1 {size} Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET\n")
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
fn exponents_and_indices_have_positions_of_their_own() {
    for ratio in [0.6, 0.7, 0.833] {
        for rise in [3.3, 3.6, 4.4] {
            // Digits are 0.556 em wide, a capital H and a space are 0.722 and 0.278.
            let (size, digit) = (11.0 * ratio, 11.0 * ratio * 0.556);
            let page = [
                at(72.0, 700.0, 11.0, "10"),
                at(84.232, 700.0 + rise, size, "6"),
                at(84.232 + digit, 700.0, 11.0, " cells and H"),
                at(84.232 + digit + 58.08, 700.0 - rise / 2.0, size, "2"),
                at(84.232 + 2.0 * digit + 58.08, 700.0, 11.0, "O in the sample of the year"),
            ];
            let markdown = markdown(&page.concat());
            assert_eq!(markdown, "10<sup>6</sup> cells and H2O in the sample of the year\n", "{ratio} {rise}");
        }
    }
}

#[test]
fn small_text_beside_large_text_keeps_its_lines() {
    for (size, number, x, above, below) in [
        (40.0, "75%", 156.0, "of all households have a heat", "pump, twice as many as before"),
        (24.0, "Price", 135.0, "from 1 May", "excluding tax"),
    ] {
        for y in [704.0, 702.0, 700.0] {
            let page = [
                at(72.0, 760.0, 10.0, "The report begins with a line of plain text here."),
                at(72.0, 700.0, size, number),
                at(x, y + 12.0, 10.0, above),
                at(x, y, 10.0, below),
                at(72.0, 640.0, 10.0, "The text continues here as usual."),
            ];
            let markdown = markdown(&page.concat());
            assert!([number, above, below].iter().all(|text| markdown.contains(text)), "{markdown}");
        }
    }
}

#[test]
fn drop_caps_begin_their_first_line() {
    let lines = [
        "he council of the town met in the spring to hear what",
        "three engineers had found out about the old bridge and",
        "its state, which had been built in 1872 by a firm",
    ];
    for (height, size, x) in [(2, 30.0, 91.0), (3, 44.0, 99.5)] {
        let mut page = at(72.0, 760.0, 10.0, "The report begins with a line of plain text here.");
        page += &at(72.0, 700.0 - 12.0 * (height - 1) as f32, size, "T");
        for (number, line) in lines.iter().enumerate() {
            page += &at(if number < height { x } else { 72.0 }, 700.0 - 12.0 * number as f32, 10.0, line);
        }
        let markdown = markdown(&page);
        assert!(markdown.ends_with(&format!("\n\nT{}\n", lines.join(" "))), "{markdown}");
    }
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
fn turned_letters_of_an_upside_down_page_keep_their_order() {
    let line = |number: u16| {
        let matrix = format!("1 0 0 -1 72 {}", 52 + number * 12);
        text(10, &matrix, "Figures of the year, in thousands of euros")
    };
    let mut page = "1 0 0 -1 0 792 cm\n".to_owned() + &(0..4).map(line).collect::<String>();
    for (turn, label) in [("0 -1 1 0 100 292 cm", "Revenue"), ("0 1 -1 0 400 100 cm", "Costs")] {
        let letters: String = label.chars().map(|letter| format!("({letter}) Tj 6 0 Td ")).collect();
        page += &format!("q {turn} BT /F1 10 Tf 1 0 0 -1 0 0 Tm {letters}ET Q\n");
    }
    let markdown = markdown(&page).replace(' ', "");
    assert!(markdown.contains("Revenue") && markdown.contains("Costs"), "{markdown}");
}

/// Returns text at a position on a sheet that is shown turned by 90 or 270 degrees, upright as it is shown.
fn on_turned(turn: u16, x: u16, y: u16, shown: &str) -> String {
    let matrix = match turn {
        90 => format!("0 1 -1 0 {} {x}", 612 - y),
        _ => format!("0 -1 1 0 {y} {}", 792 - x),
    };
    text(10, &matrix, shown)
}

#[test]
fn lines_of_a_turned_sheet_keep_their_order() {
    let lines = [
        "The council of the town met in the spring",
        "to hear what three engineers had found out about the old bridge",
        "and its state, which",
        "had been built in 1872 by a firm from the coast that no longer exists",
        "today, so that nobody",
        "knew where the drawings of it",
        "were, and the decision was postponed until the autumn",
        "of the year.",
    ];
    for turn in [90, 270] {
        let mut page: String =
            (500..).step_by(12).zip(lines.iter().rev()).map(|(y, line)| on_turned(turn, 72, y, line)).collect();
        page += &text(10, "1 0 0 1 300 30", "Page number 17");
        page += &text(10, "-1 0 0 -1 300 700", "From the other end");
        let markdown = markdown_of(&format!("/Rotate {turn}"), &page);
        let expected = format!("{}\n\nPage number 17\n\nFrom the other end\n", lines.join(" "));
        assert_eq!(markdown, expected, "{turn}");
    }
}

#[test]
fn tables_of_a_turned_sheet_are_tables() {
    for turn in [90, 270] {
        let rows = [["Item", "Amount", "Price"], ["Bolt", "10", "1.50"], ["Nut of steel", "20", "2.50"]];
        let mut page = String::new();
        for (y, row) in (460..500).step_by(16).rev().zip(rows) {
            page.extend([72, 200, 330].into_iter().zip(row).map(|(x, cell)| on_turned(turn, x, y, cell)));
        }
        let markdown = markdown_of(&format!("/Rotate {turn}"), &page);
        let expected =
            "| Item | Amount | Price |\n| --- | --- | --- |\n| Bolt | 10 | 1.50 |\n| Nut of steel | 20 | 2.50 |\n";
        assert_eq!(markdown, expected, "{turn}");
    }
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

#[test]
fn soft_hyphens_that_are_not_drawn_are_seen_at_the_end_of_a_line_alone() {
    let soft = |glyph: &str| format!("/Span <</ActualText <FEFF00AD>>> BDC ({glyph}) Tj EMC ");
    let page = [
        "BT /F1 12 Tf 1 0 0 1 72 700 Tm (Die Donau) Tj ".to_owned(),
        soft(" "),
        "56.688 0 Td (dampf) Tj ".to_owned(),
        soft(" "),
        "33.348 0 Td (schiff fuhr weiter, als der Dampf) Tj ".to_owned(),
        soft("-"),
        "ET\n".to_owned(),
        text(12, "1 0 0 1 72 686", "kessel es nach der Auskunft der Reederei zuliess."),
    ];
    let markdown = markdown(&page.concat());
    assert!(markdown.starts_with("Die Donaudampfschiff fuhr weiter, als der Dampfkessel es nach"), "{markdown}");
}

#[test]
fn replacement_texts_in_a_font_with_codes_of_one_byte_keep_their_letters() {
    let mut page = text(10, "1 0 0 1 72 740", "The word for peace:") + "BT /F1 10 Tf 1 0 0 1 72 700 Tm\n";
    // From the left; lam-alef is one glyph.
    for units in ["0645", "06440627", "0633"] {
        page += &format!("/Span <</ActualText <FEFF{units}>>> BDC (n) Tj EMC 5.56 0 Td\n");
    }
    let markdown = markdown(&(page + "ET\n"));
    assert!(markdown.contains("\u{633}\u{644}\u{627}\u{645}"), "{markdown}");
}
