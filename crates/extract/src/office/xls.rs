//! Sheets of Excel workbooks up to 2003.

use std::borrow::Cow;

use office_oxide::xls::{CellValue, Sheet};

use super::cell::Cell;
use super::grid::{self, Room};
use super::ranges::{Range, Ranges};
use super::xls_formats::Formats;

/// Writes the cells of a sheet.
pub(super) fn table(sheet: &Sheet, formats: Option<&Formats>, room: &mut Room) -> String {
    grid::write(|| rows(sheet, formats), room)
}

fn rows<'a>(sheet: &'a Sheet, formats: Option<&'a Formats>) -> impl Iterator<Item = Vec<Cell<'a>>> {
    let merged = sheet.merged_cells.iter().map(|(first, last, left, right)| (range(*first, *last, *left, *right), ()));
    let links = sheet
        .hyperlinks
        .iter()
        .map(|link| (range(link.row_first, link.row_last, link.col_first, link.col_last), link.target.as_str()));
    let (mut merged, mut links) = (Ranges::new(merged), Ranges::new(links));
    (0u32..).zip(&sheet.rows).map(move |(number, row)| {
        let (merged, links) = (merged.in_row(number), links.in_row(number));
        let filled = (0u32..).zip(row).filter(|(_, value)| !matches!(value, CellValue::Empty));
        let shown = filled.filter(|(column, _)| !merged.iter().any(|(range, ())| range.covers(number, *column)));
        let cells = shown.map(|(column, value)| Cell {
            column,
            text: text(sheet, formats, (number, column), value),
            link: links.iter().rfind(|(range, _)| range.holds(column)).map(|(_, target)| *target),
            ..Cell::default()
        });
        cells.collect()
    })
}

fn range(first: u16, last: u16, left: u16, right: u16) -> Range {
    Range::new((first.into(), last.into()), (left.into(), right.into()))
}

/// Returns the text that the cell shows, with the library's rendering if the file's formats are unknown.
fn text<'a>(sheet: &'a Sheet, formats: Option<&Formats>, place: (u32, u32), value: &'a CellValue) -> Cow<'a, str> {
    let (row, column) = (place.0 as usize, place.1 as usize);
    let style = sheet.xf.get(row).and_then(|styles| styles.get(column)).copied();
    match (formats, value) {
        (Some(formats), CellValue::Number(number)) => formats.number(*number, style).into(),
        (Some(formats), CellValue::String(text)) => formats.text(text, style),
        _ => sheet.display_text(row, column).unwrap_or_default(),
    }
}
