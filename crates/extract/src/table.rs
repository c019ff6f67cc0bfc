//! GitHub markdown tables.

/// Columns with content; empty columns are not written.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    used: Vec<bool>,
}

impl Columns {
    /// Returns columns that all have content.
    pub(crate) fn all(width: usize) -> Self {
        Self { used: vec![true; width] }
    }

    /// Records the non-empty columns of a row.
    pub(crate) fn record<'a>(&mut self, cells: impl Iterator<Item = &'a str>) {
        for (column, cell) in cells.enumerate() {
            if column >= self.used.len() {
                self.used.push(false);
            }
            self.used[column] |= !cell.trim().is_empty();
        }
    }
}

/// Row-by-row table writer; the first row is the header. Cells are inline Markdown.
///
/// The header has a cell for every column. Later rows end at their own last cell: GitHub tables allow short rows but
/// not long ones. So one wide row among many short rows does not multiply the output.
pub(crate) struct Writer<'a> {
    columns: &'a Columns,
    out: &'a mut String,
    header: bool,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(columns: &'a Columns, out: &'a mut String) -> Self {
        Self { columns, out, header: true }
    }

    /// Writes one row; skips rows without text.
    pub(crate) fn row<'c>(&mut self, cells: impl Iterator<Item = &'c str>) {
        let start = self.out.len();
        let mut empty = true;
        let mut written = 0;
        self.out.push('|');
        for (cell, _) in cells.zip(&self.columns.used).filter(|(_, used)| **used) {
            self.out.push(' ');
            empty &= cell.trim().is_empty();
            write_cell(cell, self.out);
            self.out.push_str(" |");
            written += 1;
        }
        if empty {
            self.out.truncate(start);
            return;
        }
        if self.header {
            let width = self.columns.used.iter().filter(|used| **used).count();
            for _ in written..width {
                self.out.push_str("  |");
            }
            self.out.push_str("\n|");
            for _ in 0..width {
                self.out.push_str(" --- |");
            }
            self.header = false;
        }
        self.out.push('\n');
    }
}

/// Writes a table from rows in memory.
pub(crate) fn write<S: AsRef<str>>(rows: &[Vec<S>], out: &mut String) {
    let mut columns = Columns::default();
    for row in rows {
        columns.record(row.iter().map(AsRef::as_ref));
    }
    let mut writer = Writer::new(&columns, out);
    for row in rows {
        writer.row(row.iter().map(AsRef::as_ref));
    }
}

/// Writes one cell. Pipes are escaped and line breaks become `<br>`, because a table row is one line.
fn write_cell(cell: &str, out: &mut String) {
    let mut line_break = false;
    // True behind a backslash that escapes the next character.
    let mut escaped = false;
    for c in cell.trim().chars() {
        let was_escaped = escaped;
        escaped = c == '\\' && !was_escaped;
        match c {
            '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => line_break = true,
            c => {
                if line_break {
                    out.push_str("<br>");
                    line_break = false;
                }
                match c {
                    '|' if !was_escaped => out.push_str("\\|"),
                    '\t' => out.push(' '),
                    c if c.is_control() => {}
                    c => out.push(c),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_escaped_and_rows_kept_on_one_line() {
        let mut out = String::new();
        write(&[vec!["a|b", "", "c"], vec!["", "", ""], vec!["line\r\ntwo"], vec!["\\|d\\\\|"]], &mut out);
        assert_eq!(out, "| a\\|b | c |\n| --- | --- |\n| line<br>two |\n| \\|d\\\\\\| |\n");
    }

    #[test]
    fn header_is_as_wide_as_widest_row() {
        let mut out = String::new();
        write(&[vec!["a"], vec!["b", "c"]], &mut out);
        assert_eq!(out, "| a |  |\n| --- | --- |\n| b | c |\n");
    }

    #[test]
    fn empty_rows_write_no_table() {
        let mut out = String::new();
        write::<&str>(&[], &mut out);
        write(&[vec!["", " "]], &mut out);
        assert_eq!(out, "");
    }
}
