//! Cells of workbooks.

use crate::documents::read;
use crate::files::workbook;

/// Builds the content of a style sheet with one style for each format: an id, and the code that the file gives it.
fn styles(formats: &[(u32, &str)]) -> String {
    let declared = formats.iter().filter(|(_, code)| !code.is_empty());
    let codes: String = declared
        .map(|(id, code)| format!(r#"<numFmt numFmtId="{id}" formatCode="{}"/>"#, code.replace('"', "&quot;")))
        .collect();
    let styles: String =
        formats.iter().map(|(id, _)| format!(r#"<xf numFmtId="{id}" fontId="0" applyNumberFormat="1"/>"#)).collect();
    format!(
        "<numFmts>{codes}</numFmts><fonts><font/><font><b/></font></fonts><cellXfs>{styles}<xf numFmtId=\"0\" fontId=\"1\"/></cellXfs>"
    )
}

fn row(number: usize, cells: &[String]) -> String {
    format!(r#"<row r="{number}">{}</row>"#, cells.concat())
}

fn text(place: &str, text: &str) -> String {
    format!(r#"<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>"#)
}

/// Cells show what Excel shows, and dates as ISO dates.
#[test]
fn numbers_are_shown_with_their_format() {
    let cases = [
        (20, "", "0.3541666", "8:30"),
        (164, "[h]:mm", "1.5", "36:00"),
        (165, "0.##", "3.75", "3.75"),
        (166, "#,##0.##", "1234.56", "1,234.56"),
        (167, "#.##", "0.4", ".4"),
        (168, "00000", "1234", "01234"),
        (169, "000-00-0000", "123456789", "123-45-6789"),
        (8, "#,##0.00 \"€\"", "1234.5", "1,234.50 €"),
        (44, "", "1234.5", "$1,234.50"),
        (0, "", "0.30000000000000004", "0.3"),
        (2, "", "0.125", "0.13"),
        (14, "", "45352", "2024-03-01"),
        (170, "dd/mm/yyyy hh:mm", "45352.4375", "2024-03-01 10:30:00"),
        (10, "", "0.0725", "7.25%"),
        (171, "\"broken", "7.5", "7.5"),
    ];
    let formats: Vec<(u32, &str)> = cases.iter().map(|(id, code, ..)| (*id, *code)).collect();
    let rows: String = (1..)
        .zip(&cases)
        .map(|(number, (.., value, _))| {
            let cell = format!(r#"<c r="B{number}" s="{}"><v>{value}</v></c>"#, number - 1);
            row(number, &[text(&format!("A{number}"), "x"), cell])
        })
        .collect();
    let file = workbook(&[("Sheet1", format!("<sheetData>{rows}</sheetData>"))], &styles(&formats));
    let read = read("a.xlsx", &file).expect("a workbook").markdown;
    let shown: Vec<&str> = read.lines().filter_map(|line| line.strip_prefix("| x | ")?.strip_suffix(" |")).collect();
    assert_eq!(shown, cases.map(|(.., expected)| expected));
}

/// openpyxl calculates nothing and writes an empty text for each result; a calculated text may be empty.
#[test]
fn formulas_of_workbooks_without_results_are_shown() {
    let read = |results: [&str; 2]| {
        let formula = |(number, result)| {
            let attributes = if result == "<v></v>" { "" } else { r#" t="str""# };
            format!(r#"<c r="B{number}"{attributes}><f>A{number}&amp;"s"</f>{result}</c>"#)
        };
        let rows = (1..).zip(results).map(|(number, result)| {
            row(
                number,
                &[text(&format!("A{number}"), "Bolt"), formula((number, result)), text(&format!("C{number}"), "x")],
            )
        });
        let file = workbook(&[("Sheet1", format!("<sheetData>{}</sheetData>", rows.collect::<String>()))], "");
        read("a.xlsx", &file).expect("a workbook").markdown
    };
    let formulas = "| Bolt | =A1&\"s\" | x |\n| --- | --- | --- |\n| Bolt | =A2&\"s\" | x |\n";
    for results in [["", ""], ["<v/>", "<v/>"], ["<v></v>", "<v></v>"], ["<v></v>", "<v/>"]] {
        assert_eq!(read(results), formulas, "{results:?}");
    }
    let results = read(["<v>Bolts</v>", r#"<v xml:space="preserve"></v>"#]);
    assert_eq!(results, "| Bolt | Bolts | x |\n| --- | --- | --- |\n| Bolt | | x |\n");
    // A form that nobody filled in.
    let results = read([r#"<v xml:space="preserve"></v>"#; 2]);
    assert_eq!(results, "| Bolt | x |\n| --- | --- |\n| Bolt | x |\n");
}

/// `office_oxide` cuts sheets at 10,000 rows.
#[test]
fn long_sheets_are_complete() {
    let rows: String = (1..=25_000)
        .map(|number| {
            row(number, &[text(&format!("A{number}"), "Bolt"), format!(r#"<c r="B{number}"><v>{number}</v></c>"#)])
        })
        .collect();
    let file = workbook(&[("Sheet1", format!("<sheetData>{rows}</sheetData>"))], "");
    let read = read("prices.xlsx", &file).expect("a workbook").markdown;
    assert_eq!(read.lines().count(), 25_001);
    assert!(read.ends_with("| Bolt | 25000 |\n"), "{}", &read[read.len() - 100..]);
    assert!(!read.contains("not shown"));
}

#[test]
fn cells_keep_links_emphasis_and_merged_areas() {
    let cells = [
        row(1, &["<c r=\"B1\" s=\"0\" t=\"inlineStr\"><is><t>Part</t></is></c>".into(), text("D1", "Site|no.")]),
        row(2, &[text("B2", "Bolt"), text("C2", "covered"), text("D2", "docs")]),
        row(3, &[text("B3", "covered"), "<c r=\"D3\"><f>SUM(D1:D2)</f></c>".into()]),
        row(4, &[text("B4", "2*3*4 [x]"), "<c r=\"D4\" t=\"b\"><v>1</v></c>".into()]),
    ];
    let sheet = format!(
        r##"<sheetData>{}</sheetData><mergeCells><mergeCell ref="B2:C3"/></mergeCells><hyperlinks><hyperlink ref="D2" location="Other!A1"/></hyperlinks>"##,
        cells.concat()
    );
    let file = workbook(&[("Parts", sheet), ("Empty", "<sheetData/>".into())], &styles(&[]));
    assert_eq!(
        read("a.xlsx", &file).expect("a workbook").markdown,
        "## Sheet: Parts\n\n| **Part** | Site\\|no. |\n| --- | --- |\n| Bolt | [docs](#Other!A1) |\n| | =SUM(D1:D2) |\n| 2\\*3\\*4 \\[x\\] | TRUE |\n"
    );
}

#[test]
fn links_reach_over_ranges() {
    let cells = [
        row(1, &[text("A1", "a"), text("B1", "b"), text("C1", "c")]),
        row(2, &[text("A2", "d"), text("B2", "e"), text("C2", "f")]),
    ];
    let sheet = format!(
        r##"<sheetData>{}</sheetData><hyperlinks><hyperlink ref="B1:C2" location="Other!A1"/><hyperlink ref="C2" location="Other!B2"/></hyperlinks>"##,
        cells.concat()
    );
    let file = workbook(&[("Sheet1", sheet)], "");
    assert_eq!(
        read("a.xlsx", &file).expect("a workbook").markdown,
        "| a | [b](#Other!A1) | [c](#Other!A1) |\n| --- | --- | --- |\n| d | [e](#Other!A1) | [f](#Other!B2) |\n"
    );
}

#[test]
fn strings_are_shown_without_their_escapes() {
    let result = r#"<c r="C2" t="str"><f>A1</f><v>one_x000D__x000A_two</v></c>"#;
    let runs = r#"<c r="D2" t="inlineStr"><is><r><rPr><b/></rPr><t>bold_x0041_</t></r><r><t xml:space="preserve"> rest</t></r></is></c>"#;
    let cells = [text("A2", "a_x000D_b"), text("B2", "_x005F_x000D_"), result.into(), runs.into()];
    let sheet = format!("<sheetData>{}{}</sheetData>", row(1, &[text("A1", "head")]), row(2, &cells));
    let file = workbook(&[("Sheet1", sheet)], "");
    let read = read("a.xlsx", &file).expect("a workbook").markdown;
    assert!(read.ends_with("| a<br>b | \\_x000D_ | one<br>two | **boldA** rest |\n"), "{read}");
}
