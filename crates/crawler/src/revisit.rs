//! Interval between two visits of a page.

use std::time::Duration;

/// Longest interval, in multiples of the crawl's own.
const LONGEST: u32 = 10;

/// Bounds of the intervals of a crawl.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bounds {
    shortest: Duration,
}

impl Bounds {
    pub fn new(every: Duration) -> Self {
        Self { shortest: every }
    }

    pub fn longest(self) -> Duration {
        self.shortest.saturating_mul(LONGEST)
    }

    /// Returns the next interval: half of the last one for a page that has changed, twice the last one for one that has not.
    pub fn next(self, last: Option<Duration>, changed: bool) -> Duration {
        let Some(last) = last else { return self.shortest };
        let next = if changed { last / 2 } else { last.saturating_mul(2) };
        next.clamp(self.shortest, self.longest())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_follows_the_changes_within_the_bounds() {
        let hours = |n: u64| Duration::from_secs(n * 3600);
        let bounds = Bounds::new(hours(1));
        let mut interval = None;
        let mut seen = Vec::new();
        for changed in [true, false, false, false, false, false, true, true, true, true] {
            interval = Some(bounds.next(interval, changed));
            seen.push(interval.map_or(0, |interval| interval.as_secs() / 3600));
        }
        assert_eq!(seen, [1, 2, 4, 8, 10, 10, 5, 2, 1, 1]);
    }
}
