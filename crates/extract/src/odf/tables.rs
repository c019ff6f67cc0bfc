//! State of open OpenDocument tables.

use crate::literal;

/// Maximum repetitions of a cell or row with text (`number-columns-repeated`, `number-rows-repeated`). Programs write
/// the empty rest of a sheet as one cell repeated a million times.
const MAX_REPEATED: usize = 1_000;
/// Maximum number of cells of one table; the rest is dropped.
const MAX_CELLS: usize = 5_000_000;

#[derive(Default)]
struct Table {
    rows: Vec<Vec<String>>,
    row: Vec<String>,
    row_repeated: usize,
    cell: Option<Cell>,
    /// Empty cells since the last cell with text; written only if another one follows.
    gap: usize,
    cells: usize,
}

struct Cell {
    text: String,
    repeated: usize,
    value: Option<String>,
    /// Its text is hidden below a merged cell.
    is_covered: bool,
}

/// Stack of open tables; a table inside a cell becomes text of that cell.
#[derive(Default)]
pub(super) struct Tables {
    open: Vec<Table>,
    sheets: bool,
}

impl Tables {
    /// Creates the stack for a spreadsheet, whose tables are sheets.
    pub(super) fn of_spreadsheet() -> Self {
        Self { open: Vec::new(), sheets: true }
    }

    pub(super) fn are_sheets(&self) -> bool {
        self.sheets
    }

    pub(super) fn is_outside(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns the number of open tables.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(super) fn start(&mut self) {
        self.open.push(Table::default());
    }

    pub(super) fn row(&mut self, repeated: Option<String>) {
        if let Some(table) = self.open.last_mut() {
            table.row.clear();
            table.gap = 0;
            table.row_repeated = count(repeated);
        }
    }

    pub(super) fn cell(&mut self, repeated: Option<String>, value: Option<String>) {
        if let Some(table) = self.open.last_mut() {
            table.cell = Some(Cell { text: String::new(), repeated: count(repeated), value, is_covered: false });
        }
    }

    /// Opens a cell below a merged cell of a sheet, which keeps its text and does not show it.
    pub(super) fn covered_cell(&mut self, repeated: Option<String>) {
        if let Some(table) = self.open.last_mut() {
            table.cell = Some(Cell { text: String::new(), repeated: count(repeated), value: None, is_covered: true });
        }
    }

    /// Adds a paragraph to the open cell. Returns false if no cell is open.
    pub(super) fn paragraph(&mut self, text: &str) -> bool {
        let Some(cell) = self.open.last_mut().and_then(|table| table.cell.as_mut()) else { return false };
        if cell.is_covered {
            return true;
        }
        if !cell.text.is_empty() {
            cell.text.push('\n');
        }
        cell.text.push_str(text);
        true
    }

    pub(super) fn end_cell(&mut self) {
        let Some(table) = self.open.last_mut() else { return };
        let Some(Cell { mut text, repeated, value, .. }) = table.cell.take() else { return };
        if text.is_empty() {
            text = value.as_deref().map(literal::block).unwrap_or_default();
        }
        if text.is_empty() {
            table.gap = table.gap.saturating_add(repeated);
            return;
        }
        let gap = std::mem::take(&mut table.gap).min(MAX_REPEATED);
        let repeated = repeated.min(MAX_REPEATED);
        if table.cells + gap + repeated > MAX_CELLS {
            return;
        }
        table.cells += gap + repeated;
        table.row.extend(std::iter::repeat_n(String::new(), gap));
        table.row.extend(std::iter::repeat_n(text, repeated));
    }

    pub(super) fn end_row(&mut self) {
        let Some(table) = self.open.last_mut() else { return };
        if table.row.is_empty() {
            return;
        }
        let row = std::mem::take(&mut table.row);
        for _ in 1..table.row_repeated.min(MAX_REPEATED) {
            if table.cells + row.len() > MAX_CELLS {
                break;
            }
            table.cells += row.len();
            table.rows.push(row.clone());
        }
        table.rows.push(row);
    }

    /// Ends the innermost table and returns its rows. Returns `None` for a nested table, whose text went to the outer
    /// cell.
    pub(super) fn end(&mut self) -> Option<Vec<Vec<String>>> {
        let mut table = self.open.pop()?;
        if !table.row.is_empty() {
            table.rows.push(table.row);
        }
        if self.open.is_empty() {
            return Some(table.rows);
        }
        for row in table.rows {
            self.paragraph(&row.join(" "));
        }
        None
    }
}

fn count(repeated: Option<String>) -> usize {
    repeated.and_then(|count| count.parse().ok()).unwrap_or(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_empty_cells_are_dropped() {
        let mut tables = Tables::default();
        tables.start();
        for (rows, cells) in [("1048576", "16384"), ("1", "16384")] {
            tables.row(Some(rows.into()));
            tables.cell(Some(cells.into()), None);
            tables.end_cell();
            tables.end_row();
        }
        tables.row(None);
        tables.cell(Some("2".into()), None);
        tables.end_cell();
        tables.cell(None, Some("7".into()));
        tables.end_cell();
        tables.end_row();
        assert_eq!(tables.end(), Some(vec![vec![String::new(), String::new(), "7".into()]]));
    }

    #[test]
    fn repeated_text_is_bounded() {
        let mut tables = Tables::default();
        tables.start();
        for _ in 0..20 {
            tables.row(Some("1000000".into()));
            tables.cell(Some("1000000".into()), Some("x".into()));
            tables.end_cell();
            tables.end_row();
        }
        let cells: usize = tables.end().expect("a table").iter().map(Vec::len).sum();
        assert!(cells <= MAX_CELLS + MAX_REPEATED, "{cells}");
    }
}
