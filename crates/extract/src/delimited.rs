//! Reader for delimiter-separated values (`csv`, `tsv`).

use csv::{ReaderBuilder, StringRecord};

use crate::{ExtractError, ExtractRequest, Extracted, FileKind, charset, literal, magic, names, table};

/// Number of records examined to find the delimiter.
const SAMPLE_RECORDS: usize = 100;
/// Number of bytes examined to find the delimiter.
const SAMPLE_BYTES: usize = 64 * 1024;

/// Reads the file as one markdown table, with the first row as its header.
pub(crate) fn read(request: &ExtractRequest, bytes: &[u8]) -> Result<Extracted, ExtractError> {
    if magic::is_disguised_text(bytes) {
        return Err(magic::wrong_type(request.kind, bytes));
    }
    let text = charset::decode(bytes, &charset::from_label(request.charset.as_deref()))
        .ok_or_else(|| magic::wrong_type(request.kind, bytes))?;
    let text = text.replace('\0', "");
    let (declared, body) = declared_delimiter(&text);
    let delimiter = declared.unwrap_or_else(|| detect_delimiter(body, request.kind));
    // Two passes over the text avoid holding all records in memory.
    let mut columns = table::Columns::default();
    for record in records(body, delimiter) {
        let record = record.map_err(|error| ExtractError::corrupt(format!("unreadable record: {error}")))?;
        columns.record(record.iter());
    }
    let mut markdown = String::with_capacity(text.len() + text.len() / 4);
    let mut writer = table::Writer::new(&columns, &mut markdown);
    for record in records(body, delimiter).filter_map(Result::ok) {
        let cells: Vec<String> = record.iter().map(literal::block).collect();
        writer.row(cells.iter().map(String::as_str));
    }
    Ok(Extracted { markdown, title: names::title_of(&request.name), ..Extracted::default() })
}

fn records(text: &str, delimiter: u8) -> impl Iterator<Item = csv::Result<StringRecord>> {
    ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(text.as_bytes())
        .into_records()
}

/// Parses Excel's delimiter line, such as `sep=;`.
fn declared_delimiter(text: &str) -> (Option<u8>, &str) {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let declared = first.trim_end_matches('\r').strip_prefix("sep=");
    match declared.map(str::as_bytes) {
        Some(&[delimiter]) if delimiter.is_ascii() => (Some(delimiter), rest),
        _ => (None, text),
    }
}

/// Returns the delimiter with which most records have the same number of cells, above one. Defaults to commas, or tabs
/// for `tsv`.
fn detect_delimiter(text: &str, kind: FileKind) -> u8 {
    let candidates: [u8; 4] = if kind == FileKind::Tsv { *b"\t,;|" } else { *b",;\t|" };
    let mut end = text.len().min(SAMPLE_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // A record truncated by the end of the sample would count with a wrong width.
    let sample =
        if end < text.len() { text[..end].rsplit_once('\n').map_or(&text[..end], |(head, _)| head) } else { text };
    let mut best = (candidates[0], 0.0);
    for delimiter in candidates {
        let score = regularity(sample, delimiter);
        if score > best.1 {
            best = (delimiter, score);
        }
    }
    best.0
}

/// Returns the share of records with the most common width above one, plus a small bonus for the width. Returns 0 if
/// no record has more than one cell.
fn regularity(sample: &str, delimiter: u8) -> f64 {
    let widths: Vec<usize> = records(sample, delimiter)
        .take(SAMPLE_RECORDS)
        .filter_map(Result::ok)
        .filter(|record| record.iter().any(|cell| !cell.trim().is_empty()))
        .map(|record| record.len())
        .collect();
    let commonest = widths
        .iter()
        .filter(|&&width| width > 1)
        .map(|&width| (widths.iter().filter(|&&other| other == width).count(), width))
        .max();
    match commonest {
        Some((count, width)) => count as f64 / widths.len() as f64 + (width.min(20) as f64) / 200.0,
        None => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ExtractErrorKind;

    fn table_of(kind: FileKind, bytes: &[u8]) -> String {
        let request = ExtractRequest { kind, name: format!("t.{}", kind.as_str()), base_url: None, charset: None };
        read(&request, bytes).expect("a table").markdown
    }

    #[test]
    fn delimiters_are_detected() {
        let expected = "| a | b |\n| --- | --- |\n| 1,5 | 2 |\n| 3,5 | 4 |\n";
        assert_eq!(table_of(FileKind::Csv, b"a;b\n1,5;2\n3,5;4\n"), expected);
        assert_eq!(table_of(FileKind::Csv, b"a\tb\n1,5\t2\n3,5\t4\n"), expected);
        assert_eq!(table_of(FileKind::Csv, b"a,b\r\n\"1,5\",2\r\n\"3,5\",4"), expected);
        assert_eq!(table_of(FileKind::Csv, b"sep=;\na;b\n1,5;2\n3,5;4\n"), expected);
        assert_eq!(table_of(FileKind::Tsv, b"a\tb\n1,5\t2\n3,5\t4\n"), expected);
    }

    #[test]
    fn single_column_is_a_table() {
        assert_eq!(table_of(FileKind::Csv, b"name\nAnn\nBob\n"), "| name |\n| --- |\n| Ann |\n| Bob |\n");
    }

    #[test]
    fn quoted_line_breaks_and_pipes_stay_in_their_cell() {
        assert_eq!(
            table_of(FileKind::Csv, b"a,b\n\"x\ny\",\"p|q\"\n"),
            "| a | b |\n| --- | --- |\n| x<br>y | p\\|q |\n"
        );
    }

    #[test]
    fn marks_in_cells_are_text() {
        assert_eq!(
            table_of(FileKind::Csv, b"size,path\n10*20*30,C:\\\n<table>,a\\|b\n"),
            "| size | path |\n| --- | --- |\n| 10\\*20*30 | C:\\\\ |\n| \\<table> | a\\\\\\|b |\n"
        );
    }

    #[test]
    fn empty_file_is_empty_and_binary_is_rejected() {
        assert_eq!(table_of(FileKind::Csv, b""), "");
        let request = ExtractRequest { kind: FileKind::Csv, name: "t.csv".into(), base_url: None, charset: None };
        let error = read(&request, b"PK\x03\x04\x14\0\x06\0\x08\0\0\0").expect_err("a zip");
        assert_eq!(error.kind, ExtractErrorKind::WrongType);
    }
}
