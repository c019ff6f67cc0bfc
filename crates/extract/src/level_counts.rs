//! Counters of multilevel numbering, as Word and LibreOffice count.

use std::cmp::Ordering;

/// Number of levels: OpenDocument has ten, Word nine.
pub(crate) const LEVELS: usize = 10;

/// Last number of each level; `None` for a level whose next item is its first.
#[derive(Debug, Default)]
pub(crate) struct LevelCounts([Option<u32>; LEVELS]);

impl LevelCounts {
    /// Counts an item of a level; 0 is the outermost. A level around it that has no item yet counts as begun, so the
    /// next item there is the second. `start` returns the first number of a level, `restarts` if a level further inside
    /// begins again.
    pub(crate) fn count(&mut self, level: u8, start: impl Fn(u8) -> u32, restarts: impl Fn(u8) -> bool) {
        for (at, number) in (0u8..).zip(&mut self.0) {
            match at.cmp(&level) {
                Ordering::Less => *number = Some(number.unwrap_or_else(|| start(at))),
                Ordering::Equal => *number = Some(number.map_or_else(|| start(at), |last| last.saturating_add(1))),
                Ordering::Greater if restarts(at) => *number = None,
                Ordering::Greater => {}
            }
        }
    }

    /// Sets the last number of a level.
    pub(crate) fn set(&mut self, level: u8, number: u32) {
        if let Some(last) = self.0.get_mut(usize::from(level)) {
            *last = Some(number);
        }
    }

    /// Returns the last number of a level.
    pub(crate) fn get(&self, level: u8) -> Option<u32> {
        self.0.get(usize::from(level)).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the numbers of the levels down to each item.
    fn numbers(levels: &[u8], restarts: impl Fn(u8) -> bool) -> String {
        let mut counts = LevelCounts::default();
        let shown = levels.iter().map(|level| {
            counts.count(*level, |at| if at == 2 { 5 } else { 1 }, &restarts);
            (0..=*level).filter_map(|at| counts.get(at)).map(|number| number.to_string()).collect::<Vec<_>>().join(".")
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn inner_levels_start_again() {
        assert_eq!(numbers(&[0, 1, 1, 2, 2, 0, 1, 2], |_| true), "1 1.1 1.2 1.2.5 1.2.6 2 2.1 2.1.5");
        assert_eq!(numbers(&[0, 1, 1, 0, 1, 2], |at| at != 1), "1 1.1 1.2 2 2.3 2.3.5");
    }

    #[test]
    fn levels_that_are_left_out_count() {
        assert_eq!(numbers(&[1, 1, 0, 2, 1], |_| true), "1.1 1.2 2 2.1.5 2.2");
    }

    #[test]
    fn numbers_can_be_set() {
        let mut counts = LevelCounts::default();
        counts.set(0, u32::MAX);
        counts.count(0, |_| 1, |_| true);
        assert_eq!(counts.get(0), Some(u32::MAX));
        counts.set(200, 7);
        assert_eq!(counts.get(200), None);
    }
}
