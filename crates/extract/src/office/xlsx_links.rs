//! Links of cells in a sheet.

use std::borrow::Cow;
use std::collections::HashMap;

use office_oxide::xlsx::cell::CellRef;
use office_oxide::xlsx::worksheet::{HyperlinkTarget, Worksheet};

use super::ranges::{Range, Ranges};

/// Maximum number of ranges in a row that are compared with each of its cells; further ones are ignored.
const MAX_RANGES: usize = 100;

/// Targets of links, by cell and by range.
pub(super) struct Links<'s> {
    cells: HashMap<(u32, u32), Cow<'s, str>>,
    ranges: Vec<(Range, Cow<'s, str>)>,
}

impl<'s> Links<'s> {
    pub(super) fn of(sheet: &'s Worksheet) -> Self {
        let mut links = Self { cells: HashMap::new(), ranges: Vec::new() };
        for link in &sheet.hyperlinks {
            let target = match &link.target {
                HyperlinkTarget::External(target) => Cow::Borrowed(&**target),
                HyperlinkTarget::Internal(place) if place.is_empty() => continue,
                HyperlinkTarget::Internal(place) => Cow::Owned(format!("#{place}")),
            };
            if let Some(range) = Range::parse(&link.cell_ref) {
                links.ranges.push((range, target));
            } else if let Some(cell) = CellRef::parse(&link.cell_ref) {
                links.cells.insert((cell.row, cell.col), target);
            }
        }
        links
    }

    /// Returns the links over more than one cell, for a pass over the rows.
    pub(super) fn ranges(&self) -> Ranges<&str> {
        Ranges::new(self.ranges.iter().map(|(range, target)| (*range, &**target)))
    }

    /// Returns the target of a cell. `in_row` are the ranges with cells in its row.
    pub(super) fn target<'l>(&'l self, cell: &CellRef, in_row: &[(Range, &'l str)]) -> Option<&'l str> {
        let own = self.cells.get(&(cell.row, cell.col)).map(|target| &**target);
        own.or_else(|| {
            let mut ranges = in_row.iter().take(MAX_RANGES);
            ranges.find(|(range, _)| range.holds(cell.col)).map(|(_, target)| *target)
        })
    }
}
