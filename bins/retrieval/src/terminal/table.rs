//! Tables that fit the width of the terminal.

use super::appearance::{Appearance, Style};
use super::text::{fit, one_line, width};

const GAP: &str = "  ";
/// Minimum width of the first column.
const MIN_FIRST_COLUMN: usize = 8;

/// Table whose first column shrinks on narrow terminals; the others are numbers or times, aligned right. The last one may hold
/// notes, aligned left, which shrink too.
pub struct Table {
    header: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    notes: bool,
}

impl Table {
    pub fn new(header: &[&'static str]) -> Self {
        Self { header: header.to_vec(), rows: Vec::new(), notes: false }
    }

    /// Creates a table with a last column of notes.
    pub fn with_notes(header: &[&'static str]) -> Self {
        Self { notes: true, ..Self::new(header) }
    }

    /// Adds a row; cells are sanitized here.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| one_line(&cell)).collect());
    }

    pub fn render(&self, appearance: &Appearance) -> String {
        let column = |index: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(index)).map(|cell| width(cell));
            cells.chain([width(self.header[index])]).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..self.header.len()).map(column).collect();
        if self.notes
            && let [first, others @ .., notes] = widths.as_mut_slice()
        {
            let taken: usize = others.iter().map(|other| other + GAP.len()).sum::<usize>() + GAP.len();
            let free = appearance.width.saturating_sub(taken);
            // Both get half of the free width, or what the other one does not need.
            *notes = (*notes).min(free.saturating_sub((*first).min((free / 2).max(MIN_FIRST_COLUMN))));
        }
        if let Some((first, others)) = widths.split_first_mut() {
            let taken: usize = others.iter().map(|other| other + GAP.len()).sum();
            *first = (*first).min(appearance.width.saturating_sub(taken).max(MIN_FIRST_COLUMN));
        }
        let header: Vec<String> = self.header.iter().map(|&title| title.to_owned()).collect();
        let mut text = appearance.paint(Style::Title, &line(&header, &widths, self.notes));
        text.push('\n');
        for row in &self.rows {
            text.push_str(&line(row, &widths, self.notes));
            text.push('\n');
        }
        text
    }
}

fn line(cells: &[String], widths: &[usize], notes: bool) -> String {
    let padded = cells.iter().zip(widths).enumerate().map(|(index, (cell, &columns))| {
        let cell = fit(cell, columns);
        let space = " ".repeat(columns - width(&cell));
        if index == 0 || (notes && index + 1 == widths.len()) {
            format!("{cell}{space}")
        } else {
            format!("{space}{cell}")
        }
    });
    padded.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Table {
        let mut table = Table::new(&["NAME", "SIZE"]);
        table.row(["潮の満ち引き.pdf".to_owned(), "12 kB".to_owned()]);
        table.row(["a\x1b[2J\n.txt".to_owned(), "3 B".to_owned()]);
        table
    }

    #[test]
    fn columns_align_in_every_script() {
        let text = files().render(&Appearance { colour: false, width: usize::MAX });
        assert_eq!(text, "NAME               SIZE\n潮の満ち引き.pdf  12 kB\na␛[2J .txt          3 B\n");
    }

    #[test]
    fn notes_share_the_width_with_the_first_column() {
        let mut table = Table::with_notes(&["NAME", "SIZE", "STATUS"]);
        table.row(["a long name.pdf".to_owned(), "3 B".to_owned(), "failed: encrypted: it is locked".to_owned()]);
        table.row(["b.md".to_owned(), "12 kB".to_owned(), "indexed".to_owned()]);
        let render = |width| table.render(&Appearance { colour: false, width });
        let whole = "NAME              SIZE  STATUS\n\
            a long name.pdf    3 B  failed: encrypted: it is locked\n\
            b.md             12 kB  indexed\n";
        assert_eq!(render(usize::MAX), whole);
        assert_eq!(
            render(40),
            "NAME              SIZE  STATUS\na long name.pdf    3 B  failed: encrypt…\nb.md             12 kB  indexed\n"
        );
        for width in [24, 30, 40, 50] {
            assert!(render(width).lines().all(|line| super::width(line) <= width), "{}", render(width));
        }
    }

    #[test]
    fn first_column_shrinks() {
        let text = files().render(&Appearance { colour: false, width: 17 });
        assert_eq!(text, "NAME         SIZE\n潮の満ち…   12 kB\na␛[2J .txt    3 B\n");
        assert!(text.lines().all(|line| width(line) <= 17));
    }
}
