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

/// Returns the delimiter with which most records have the same number of cells, above one, and of several such the one
/// with most cells. Defaults to commas, or tabs for `tsv`. Commas of decimal numbers yield to another delimiter that is
/// as regular.
fn detect_delimiter(text: &str, kind: FileKind) -> u8 {
    let candidates: [u8; 4] = if kind == FileKind::Tsv { *b"\t,;|" } else { *b",;\t|" };
    let mut end = text.len().min(SAMPLE_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // A record truncated by the end of the sample would count with a wrong width.
    let sample =
        if end < text.len() { text[..end].rsplit_once('\n').map_or(&text[..end], |(head, _)| head) } else { text };
    let regularities = candidates.map(|delimiter| (delimiter, regularity(sample, delimiter)));
    let Some((delimiter, best)) = most_regular(regularities.into_iter()) else { return candidates[0] };
    if delimiter == b',' && has_decimal_commas(sample) {
        let others = regularities.into_iter().filter(|(other, _)| *other != b',');
        if let Some((other, _)) = most_regular(others).filter(|(_, other)| other.share >= best.share) {
            return other;
        }
    }
    delimiter
}

/// Returns the first of the most regular delimiters; `None` if no record has more than one cell.
fn most_regular(regularities: impl Iterator<Item = (u8, Regularity)>) -> Option<(u8, Regularity)> {
    regularities.filter(|(_, of)| of.width > 1).reduce(|best, next| if next.1 > best.1 { next } else { best })
}

/// Checks if the commas outside quotes stand between two digits. The first line may be a header with other ones.
fn has_decimal_commas(sample: &str) -> bool {
    let rows = sample.split_once('\n').map_or(sample, |(_, rows)| if rows.trim().is_empty() { sample } else { rows });
    let (mut is_quoted, mut commas) = (false, 0);
    for (at, byte) in rows.bytes().enumerate() {
        is_quoted ^= byte == b'"';
        if byte == b',' && !is_quoted {
            let digit = |at: Option<usize>| at.and_then(|at| rows.as_bytes().get(at)).is_some_and(u8::is_ascii_digit);
            if !digit(at.checked_sub(1)) || !digit(at.checked_add(1)) {
                return false;
            }
            commas += 1;
        }
    }
    commas > 0
}

/// Regularity of the records with a delimiter, compared by the share and then by the width.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Regularity {
    /// Share of records with the most common width above one.
    share: f64,
    /// This width; 0 if no record has more than one cell.
    width: usize,
}

fn regularity(sample: &str, delimiter: u8) -> Regularity {
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
        Some((count, width)) => Regularity { share: count as f64 / widths.len() as f64, width },
        None => Regularity { share: 0.0, width: 0 },
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
    fn decimal_commas_are_no_delimiters() {
        for (source, first_row) in [
            ("1,5;2,5\n3,5;4,5\n", "| 1,5 | 2,5 |"),
            ("1,5\t2,5\n3,5\t4,5\n", "| 1,5 | 2,5 |"),
            ("1,5;2,5;4,5\n", "| 1,5 | 2,5 | 4,5 |"),
            ("2024-01-01;1,5;2,5\n2024-01-02;3,5;4,5\n", "| 2024-01-01 | 1,5 | 2,5 |"),
            ("Länge, m;Breite, m\n1,5;2,5\n3,5;4,5\n", "| Länge, m | Breite, m |"),
            ("a, b;c, d;e\n\"x, y\";2,5;3,5\n", "| a, b | c, d | e |"),
            // Commas that delimit cells.
            ("a,b\n1,5\n2,6\n", "| a | b |"),
            ("1,5\n2,6\n", "| 1 | 5 |"),
            ("x,1;2,y\nz,3;4,x\n", "| x | 1;2 | y |"),
            ("n,list\n1,2;3\n2,3;4\n", "| n | list |"),
            ("a,b;c,d\n", "| a | b;c | d |"),
        ] {
            let table = table_of(FileKind::Csv, source.as_bytes());
            assert_eq!(table.lines().next(), Some(first_row), "{source}");
        }
        assert!(table_of(FileKind::Tsv, b"1,5\t2,5\n3,5\t4,5\n").starts_with("| 1,5 | 2,5 |\n"));
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
