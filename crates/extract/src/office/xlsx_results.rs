//! Results of formulas in an Excel workbook since 2007: `office_oxide` does not give out the type of an empty result.

use std::io::Cursor;

use quick_xml::events::Event;
use zip::ZipArchive;

use super::package::{self, MAX_BYTES};
use crate::xml;

/// Part with the order of calculation (ECMA-376 part 1, 12.3.1), which programs that calculate nothing do not write.
const CALCULATION_CHAIN: &str = "xl/calcChain.xml";

/// Checks that the program that wrote the workbook calculated it, also if all its results are empty texts.
pub(super) fn are_calculated(bytes: &[u8]) -> bool {
    let Ok(mut archive) = ZipArchive::new(Cursor::new(bytes)) else { return false };
    for at in 0..archive.len() {
        let name = archive.by_index_raw(at).ok().and_then(|part| Some(part.name().ok()?.into_owned()));
        if name.is_some_and(|name| name.eq_ignore_ascii_case(CALCULATION_CHAIN)) {
            return true;
        }
    }
    let mut room = MAX_BYTES;
    (0..archive.len()).any(|at| {
        package::unpacked(&mut archive, at, &mut room).is_some_and(|(_, part)| has_text_result(&part) == Some(true))
    })
}

/// Checks for a formula whose result is a text, which may be empty. Returns `None` for malformed XML before it.
fn has_text_result(part: &str) -> Option<bool> {
    if !part.contains("sheetData") {
        return Some(false);
    }
    let mut reader = xml::lenient(part);
    let (mut is_text, mut has_formula) = (false, false);
    loop {
        match reader.read_event().ok()? {
            Event::Start(element) => match element.local_name().as_ref() {
                "c" => (is_text, has_formula) = (xml::attribute(&element, "t").as_deref() == Some("str"), false),
                "f" => has_formula = true,
                "v" if is_text && has_formula => return Some(true),
                _ => {}
            },
            // A formula that the cell shares with others.
            Event::Empty(element) if element.local_name().as_ref() == "f" => has_formula = true,
            Event::End(element) if element.local_name().as_ref() == "c" => is_text = false,
            Event::Eof => return Some(false),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    #[test]
    fn workbooks_with_text_results_or_an_order_of_calculation_are_calculated() {
        let sheet = |cells: &str| format!("<worksheet><sheetData><row>{cells}</row></sheetData></worksheet>");
        let are_calculated = |parts: &[(&str, String)]| {
            let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
            for (name, content) in parts {
                zip.start_file(*name, SimpleFileOptions::default()).expect("an entry");
                zip.write_all(content.as_bytes()).expect("its content");
            }
            are_calculated(&zip.finish().expect("an archive").into_inner())
        };
        let empty = "<c><f>A1</f><v></v></c>";
        for (cells, expected) in [
            ("", false),
            (empty, false),
            (r#"<c t="str"><v>a</v></c><c><f>A1</f><v></v></c>"#, false),
            (r#"<c t="str"><f>A1</f></c><c><v>1</v></c>"#, false),
            (r#"<c t="str"><f>A1</f><v></v></c>"#, true),
            (r#"<c t="str"><f t="shared" si="0"/><v></v></c>"#, true),
        ] {
            let parts = [("xl/worksheets/sheet1.xml", sheet("<c")), ("xl/worksheets/sheet2.xml", sheet(cells))];
            assert_eq!(are_calculated(&parts), expected, "{cells}");
        }
        assert!(are_calculated(&[("xl/s.xml", sheet(empty)), ("xl/calcChain.xml", "<calcChain/>".to_owned())]));
        assert!(!super::are_calculated(b"no archive"));
    }
}
