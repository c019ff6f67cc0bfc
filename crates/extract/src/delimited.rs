//! Delimiter-separated values (`csv`, `tsv`) as a markdown table.

use csv::{ReaderBuilder, StringRecord};

use crate::{ExtractError, ExtractRequest, Extracted, FileKind, charset, magic, names, table};

/// Records that are looked at to find the delimiter.
const SAMPLE_RECORDS: usize = 100;
/// Characters that are looked at to find the delimiter.
const SAMPLE_BYTES: usize = 64 * 1024;

/// The file as one table; its first row is the header.
pub(crate) fn read(request: &ExtractRequest, bytes: &[u8]) -> Result<Extracted, ExtractError> {
    if magic::is_disguised_text(bytes) {
        return Err(magic::wrong_type(request.kind, bytes));
    }
    let text = charset::decode(bytes, &charset::named(request.charset.as_deref()))
        .ok_or_else(|| magic::wrong_type(request.kind, bytes))?;
    let text = text.replace('\0', "");
    let (declared, body) = declared_delimiter(&text);
    let delimiter = declared.unwrap_or_else(|| find_delimiter(body, request.kind));
    // Two passes over the text instead of all records in memory at once.
    let mut columns = table::Columns::default();
    for record in records(body, delimiter) {
        let record = record.map_err(|error| ExtractError::corrupt(format!("unreadable record: {error}")))?;
        columns.see(record.iter());
    }
    let mut markdown = String::with_capacity(text.len() + text.len() / 4);
    let mut writer = table::Writer::new(&columns, &mut markdown);
    for record in records(body, delimiter).filter_map(Result::ok) {
        writer.row(record.iter());
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

/// Excel's own first line, `sep=;`.
fn declared_delimiter(text: &str) -> (Option<u8>, &str) {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let declared = first.trim_end_matches('\r').strip_prefix("sep=");
    match declared.map(str::as_bytes) {
        Some(&[delimiter]) if delimiter.is_ascii() => (Some(delimiter), rest),
        _ => (None, text),
    }
}

/// The delimiter under which most records have the same number of cells, and more than one; commas (tabs for `tsv`)
/// where none does.
fn find_delimiter(text: &str, kind: FileKind) -> u8 {
    let candidates: [u8; 4] = if kind == FileKind::Tsv { *b"\t,;|" } else { *b",;\t|" };
    let mut end = text.len().min(SAMPLE_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // A record cut by the sample's end would count as one of another width.
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

/// Share of records that have the commonest width above one, weighted a little by that width: 0 where no record is
/// wider than one cell.
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
    fn delimiters_are_found() {
        let expected = "| a | b |\n| --- | --- |\n| 1,5 | 2 |\n| 3,5 | 4 |\n";
        assert_eq!(table_of(FileKind::Csv, b"a;b\n1,5;2\n3,5;4\n"), expected);
        assert_eq!(table_of(FileKind::Csv, b"a\tb\n1,5\t2\n3,5\t4\n"), expected);
        assert_eq!(table_of(FileKind::Csv, b"a,b\r\n\"1,5\",2\r\n\"3,5\",4"), expected);
        assert_eq!(table_of(FileKind::Csv, b"sep=;\na;b\n1,5;2\n3,5;4\n"), expected);
        assert_eq!(table_of(FileKind::Tsv, b"a\tb\n1,5\t2\n3,5\t4\n"), expected);
    }

    #[test]
    fn one_column_is_a_table_too() {
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
    fn empty_is_empty_and_binary_is_refused() {
        assert_eq!(table_of(FileKind::Csv, b""), "");
        let request = ExtractRequest { kind: FileKind::Csv, name: "t.csv".into(), base_url: None, charset: None };
        let error = read(&request, b"PK\x03\x04\x14\0\x06\0\x08\0\0\0").expect_err("a zip");
        assert_eq!(error.kind, ExtractErrorKind::WrongType);
    }
}
