//! Rectangles of cells, looked up row by row: merged cells and links.

use office_oxide::xlsx::cell::CellRef;

/// Maximum number of comparisons of ranges with rows. Ranges of real files rarely overlap; beyond the limit they are
/// ignored.
const MAX_WORK: usize = 20_000_000;

/// Rectangle of cells, with first and last row and column, from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) rows: (u32, u32),
    pub(super) columns: (u32, u32),
}

impl Range {
    pub(super) fn new(rows: (u32, u32), columns: (u32, u32)) -> Self {
        let ordered = |(a, b): (u32, u32)| (a.min(b), a.max(b));
        Self { rows: ordered(rows), columns: ordered(columns) }
    }

    /// Parses a range such as `A1:C2`. Returns `None` for the name of one cell.
    pub(super) fn parse(range: &str) -> Option<Self> {
        let (first, last) = range.split_once(':')?;
        let (first, last) = (CellRef::parse(first)?, CellRef::parse(last)?);
        Some(Self::new((first.row, last.row), (first.col, last.col)))
    }

    /// Returns true if the cell is in the range and not its first one.
    pub(super) fn covers(&self, row: u32, column: u32) -> bool {
        self.holds(column) && (row, column) != (self.rows.0, self.columns.0)
    }

    /// Returns true if the column is one of the range.
    pub(super) fn holds(&self, column: u32) -> bool {
        (self.columns.0..=self.columns.1).contains(&column)
    }
}

/// Ranges with values, for a pass over the rows in ascending order.
pub(super) struct Ranges<T> {
    /// Ranges below the current row, the next one last.
    below: Vec<(Range, T)>,
    open: Vec<(Range, T)>,
    work: usize,
}

impl<T> Ranges<T> {
    pub(super) fn new(ranges: impl Iterator<Item = (Range, T)>) -> Self {
        let mut below: Vec<(Range, T)> = ranges.collect();
        below.sort_by_key(|(range, _)| std::cmp::Reverse(range.rows.0));
        Self { below, open: Vec::new(), work: MAX_WORK }
    }

    /// Returns the ranges with cells in the row.
    pub(super) fn in_row(&mut self, row: u32) -> &[(Range, T)] {
        while let Some(range) = self.below.pop_if(|(range, _)| range.rows.0 <= row) {
            self.open.push(range);
        }
        self.work = self.work.saturating_sub(self.open.len());
        if self.work == 0 {
            self.open.clear();
            self.below.clear();
        }
        self.open.retain(|(range, _)| range.rows.1 >= row);
        &self.open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_found_by_row() {
        let ranges = [(Range::new((4, 2), (0, 1)), 'b'), (Range::new((0, 9), (5, 5)), 'a')];
        let mut ranges = Ranges::new(ranges.into_iter());
        let mut names = |row| ranges.in_row(row).iter().map(|(_, name)| *name).collect::<String>();
        assert_eq!([names(0), names(3), names(5), names(10)], ["a", "ab", "a", ""]);
        let merged = Range::new((2, 4), (0, 1));
        assert!(merged.covers(2, 1) && merged.covers(3, 0) && !merged.covers(2, 0) && !merged.covers(2, 2));
    }

    #[test]
    fn overlapping_ranges_take_bounded_work() {
        let whole = Range::new((0, u32::MAX), (0, u32::MAX));
        let mut ranges = Ranges::new((0..50_000).map(|_| (whole, ())));
        for row in 0..1_000_000 {
            ranges.in_row(row);
        }
        assert!(ranges.in_row(1_000_000).is_empty());
    }
}
