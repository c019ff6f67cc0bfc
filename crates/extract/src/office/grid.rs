//! Sheets of a workbook: rows of cells as a table, or as paragraphs if the sheet holds text.

use super::cell::Cell;
use super::marks::marked_lines;
use crate::charset::normalize_lines;
use crate::table;

/// Maximum size of the tables of one workbook, in bytes. It also bounds the work on sheets with few cells in many
/// columns, and on cells that share one long text.
const MAX_BYTES: usize = 64 << 20;
/// Columns of a sheet; the last one is `XFD`.
const MAX_COLUMNS: usize = 16_384;
/// Minimum length of a cell of running text, in characters.
const PROSE_CHARS: usize = 20;
/// Minimum rows of a sheet of running text.
const PROSE_ROWS: usize = 3;

/// Room for the tables of a workbook.
pub(super) struct Room {
    bytes: usize,
}

impl Room {
    pub(super) fn of_workbook() -> Self {
        Self { bytes: MAX_BYTES }
    }

    /// Takes room. Returns false if there is not enough left.
    fn take(&mut self, bytes: usize) -> bool {
        match self.bytes.checked_sub(bytes) {
            Some(left) => {
                self.bytes = left;
                true
            }
            None => {
                self.bytes = 0;
                false
            }
        }
    }
}

/// Writes the rows of a sheet. Reads them twice, because holding all texts takes more memory than the file does.
pub(super) fn write<'a, R>(rows: impl Fn() -> R, room: &mut Room) -> String
where
    R: Iterator<Item = Vec<Cell<'a>>>,
{
    let shape = Shape::of(rows());
    let mut out = String::new();
    let mut left = 0;
    if shape.is_prose() {
        for row in rows() {
            if left > 0 || !paragraph(&row, room, &mut out) {
                left += 1;
            }
        }
    } else {
        let columns = table::Columns::all(shape.width);
        let mut writer = table::Writer::new(&columns, &mut out);
        for row in rows() {
            if left > 0 {
                left += 1;
                continue;
            }
            match shape.row(&row, room) {
                Some(cells) => writer.row(cells.iter().map(String::as_str)),
                None => left += 1,
            }
        }
    }
    if left > 0 {
        out.push_str(&format!(
            "\n\\[{left} rows not shown: the tables of the workbook exceed {} MiB\\]\n",
            MAX_BYTES >> 20
        ));
    }
    out
}

/// Writes a row of running text, with tabs between its cells and marked lines. Returns false if there is no room.
fn paragraph(row: &[Cell<'_>], room: &mut Room, out: &mut String) -> bool {
    let start = out.len();
    for cell in row.iter().filter(|cell| !cell.is_empty()) {
        let text = cell.markdown();
        if !room.take(text.len() + 2) {
            out.truncate(start);
            return false;
        }
        if out.len() > start {
            out.push('\t');
        }
        out.push_str(text.trim());
    }
    if out.len() > start {
        let row = out.split_off(start);
        out.push_str(&marked_lines(&normalize_lines(&row)));
        out.push_str("\n\n");
    }
    true
}

/// Used columns of a sheet, and the length of its rows.
#[derive(Default)]
struct Shape {
    /// For each column of the sheet its column in the table; `None` for an empty column.
    columns: Vec<Option<usize>>,
    /// Number of used columns.
    width: usize,
    rows: usize,
    /// Rows with one cell.
    single: usize,
    /// Set if a cell has the length of running text.
    long: bool,
}

impl Shape {
    fn of<'a>(rows: impl Iterator<Item = Vec<Cell<'a>>>) -> Self {
        let mut shape = Self::default();
        let mut used: Vec<bool> = Vec::new();
        for row in rows {
            let mut cells = 0;
            for cell in row.iter().filter(|cell| !cell.is_empty()) {
                let column = cell.column as usize;
                if column >= MAX_COLUMNS {
                    continue;
                }
                if column >= used.len() {
                    used.resize(column + 1, false);
                }
                used[column] = true;
                cells += 1;
                shape.long |= cell.text.chars().nth(PROSE_CHARS).is_some();
            }
            shape.rows += usize::from(cells > 0);
            shape.single += usize::from(cells == 1);
        }
        for used in used {
            shape.columns.push(used.then_some(shape.width));
            shape.width += usize::from(used);
        }
        shape
    }

    /// Returns true for running text: nearly all rows have one cell, and some cell is long.
    fn is_prose(&self) -> bool {
        self.long && self.rows >= PROSE_ROWS && self.single * 5 >= self.rows * 4
    }

    /// Lays a row out, up to its last cell. The first of two cells in one place is kept. Returns `None` if there is no
    /// room.
    fn row(&self, row: &[Cell<'_>], room: &mut Room) -> Option<Vec<String>> {
        let mut cells: Vec<String> = Vec::new();
        for cell in row.iter().filter(|cell| !cell.is_empty()) {
            let Some(column) = self.columns.get(cell.column as usize).copied().flatten() else { continue };
            if column >= cells.len() {
                // Marks of the columns, and of the header's rule.
                if !room.take((column + 1 - cells.len()) * 3) {
                    return None;
                }
                cells.resize(column + 1, String::new());
            }
            if cells[column].is_empty() {
                let text = cell.markdown().trim().to_owned();
                if !room.take(text.len()) {
                    return None;
                }
                cells[column] = text;
            }
        }
        Some(cells)
    }
}

#[cfg(test)]
mod tests {
    use super::super::escapes::complete;
    use super::*;

    fn cell(column: u32, text: &str) -> Cell<'_> {
        Cell { column, text: text.into(), ..Cell::default() }
    }

    #[test]
    fn empty_columns_and_rows_are_left_out() {
        let rows = || {
            [
                vec![cell(1, "Item"), cell(4, "EUR")],
                vec![cell(2, " ")],
                vec![cell(4, "7|8"), cell(1, "Bolt"), cell(1, "x")],
            ]
            .into_iter()
        };
        let table = write(rows, &mut Room::of_workbook());
        assert_eq!(table, "| Item | EUR |\n| --- | --- |\n| Bolt | 7\\|8 |\n");
    }

    #[test]
    fn running_text_has_paragraphs() {
        let rows =
            || ["A sentence of some length.", "- And\r\n\t# more.", "End."].map(|text| vec![cell(0, text)]).into_iter();
        let text = complete(&write(rows, &mut Room::of_workbook()));
        assert_eq!(text, "A sentence of some length.\n\n\\- And\n\\# more.\n\nEnd.\n\n");
    }

    #[test]
    fn wide_sheets_are_bounded() {
        let rows = || {
            let full = std::iter::once((0..16_384).map(|column| cell(column, "x")).collect());
            full.chain((0..1_000_000).map(|_| vec![cell(16_383, "x")]))
        };
        let table = write(rows, &mut Room::of_workbook());
        assert!(table.len() < MAX_BYTES + (1 << 20), "{}", table.len());
        assert!(table.ends_with(" rows not shown: the tables of the workbook exceed 64 MiB\\]\n"));
    }
}
