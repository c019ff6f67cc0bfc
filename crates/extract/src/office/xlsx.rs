//! Sheets of Excel workbooks since 2007.

use std::borrow::Cow;

use office_oxide::xlsx::XlsxDocument;
use office_oxide::xlsx::cell::{Cell as Stored, CellValue};
use office_oxide::xlsx::shared_strings::RichTextRun;
use office_oxide::xlsx::worksheet::Worksheet;

use super::cell::Cell;
use super::grid::{self, Room};
use super::ranges::{Range, Ranges};
use super::xlsx_links::Links;
use super::xlsx_results;
use super::xstring::decoded;
use crate::number_format::{self, NumberFormat, NumberFormats};

/// Maximum length of a shared string in a cell, in bytes: one text may be named by every cell. Excel's limit is 32,767
/// characters.
const MAX_TEXT: usize = 32_768;

/// Workbook with its number formats.
pub(super) struct Workbook<'d> {
    document: &'d XlsxDocument,
    formats: NumberFormats,
    /// False if the program that wrote the file calculated nothing: all results are empty, and not stated to be texts.
    is_calculated: bool,
}

impl<'d> Workbook<'d> {
    /// Prepares the workbook. `bytes` are those of its file.
    pub(super) fn new(document: &'d XlsxDocument, bytes: &[u8]) -> Self {
        let formats = document.styles.as_ref().map(|styles| {
            let ids = styles.cell_formats.iter().map(|style| style.number_format_id);
            NumberFormats::new(ids, |id| styles.number_formats.get(&id).map(String::as_str))
        });
        let cells = document.worksheets.iter().flat_map(|sheet| &sheet.rows).flat_map(|row| &row.cells);
        let mut values = cells.filter(|cell| cell.formula().is_some()).map(|cell| &cell.value);
        let is_calculated = values.clone().any(|value| !is_blank(value))
            || (values.any(|value| matches!(value, CellValue::String(_))) && xlsx_results::are_calculated(bytes));
        Self { document, formats: formats.unwrap_or_default(), is_calculated }
    }

    /// Writes the cells of a sheet.
    pub(super) fn table(&self, sheet: &'d Worksheet, room: &mut Room) -> String {
        let links = Links::of(sheet);
        grid::write(|| self.rows(sheet, &links), room)
    }

    fn rows<'a>(&'a self, sheet: &'a Worksheet, links: &'a Links<'a>) -> impl Iterator<Item = Vec<Cell<'a>>> {
        let mut merged = Ranges::new(sheet.merged_cells.iter().filter_map(|range| Some((Range::parse(range)?, ()))));
        let mut linked = links.ranges();
        sheet.rows.iter().map(move |row| {
            let number = row.index.saturating_sub(1);
            let linked = linked.in_row(number);
            let merged = merged.in_row(number);
            let covered = |column| merged.iter().any(|(range, ())| range.covers(number, column));
            let cells =
                row.cells.iter().filter(|cell| !matches!(cell.value, CellValue::Empty) || cell.formula().is_some());
            let cells = cells.filter(|cell| merged.is_empty() || !covered(cell.reference.col));
            cells.map(|cell| self.cell(cell, links.target(&cell.reference, linked))).collect()
        })
    }

    fn cell<'a>(&'a self, cell: &'a Stored, link: Option<&'a str>) -> Cell<'a> {
        let styles = self.document.styles.as_ref();
        let font = styles.zip(cell.style_index).and_then(|(styles, style)| styles.font_for(style));
        Cell {
            column: cell.reference.col,
            text: self.text(cell),
            bold: font.is_some_and(|font| font.bold),
            italic: font.is_some_and(|font| font.italic),
            link,
            runs: self.runs(cell),
        }
    }

    /// Returns the text that the cell shows. A formula without a stored result is shown itself.
    fn text<'a>(&'a self, cell: &'a Stored) -> Cow<'a, str> {
        let format = self.format(cell);
        if let Some(formula) = cell.formula().filter(|_| self.lacks_result(&cell.value)) {
            return format!("={formula}").into();
        }
        let text = match &cell.value {
            CellValue::Empty => return Cow::default(),
            CellValue::Number(number) => {
                let date1904 = self.document.workbook.date1904;
                return format
                    .map_or_else(|| number_format::general(*number), |format| format.number(*number, date1904))
                    .into();
            }
            CellValue::Boolean(value) => return if *value { "TRUE" } else { "FALSE" }.into(),
            CellValue::Error(error) => return error.into(),
            CellValue::Date(date) => return date.to_iso_string().into(),
            CellValue::String(text) => decoded(text),
            CellValue::SharedString(index) => {
                decoded(beginning(self.document.shared_strings.get(*index).unwrap_or_default()))
            }
        };
        match (format, text) {
            (None, text) => text,
            (Some(format), Cow::Borrowed(text)) => format.text(text),
            (Some(format), Cow::Owned(text)) => Cow::Owned(format.text(&text).into_owned()),
        }
    }

    /// Checks that a formula has no stored result. Some programs write an empty text for none, which is also a result.
    fn lacks_result(&self, value: &CellValue) -> bool {
        matches!(value, CellValue::Empty) || (!self.is_calculated && is_blank(value))
    }

    fn format(&self, cell: &Stored) -> Option<&NumberFormat> {
        self.formats.get(self.document.styles.as_ref()?.number_format_id_for(cell.style_index?)?)
    }

    fn runs<'a>(&'a self, cell: &'a Stored) -> &'a [RichTextRun] {
        let runs = match &cell.value {
            CellValue::SharedString(index) => {
                self.document.shared_strings.get_shared(*index).and_then(|text| text.rich_text.as_ref())
            }
            CellValue::String(_) => cell.rich_runs(),
            _ => None,
        };
        runs.map_or(&[], |runs| runs)
    }
}

/// Checks for no value or an empty text.
fn is_blank(value: &CellValue) -> bool {
    matches!(value, CellValue::Empty) || matches!(value, CellValue::String(text) if text.is_empty())
}

fn beginning(text: &str) -> &str {
    let end = (0..=MAX_TEXT.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}
