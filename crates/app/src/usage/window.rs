//! Time window of an overview, and the tables that its counts come from.

use docstore::{DAY, HOUR, MINUTE};
use ingest::clock::{from_date_time, to_date_time};
use model::Timestamp;
use time::{Duration, OffsetDateTime};

use crate::Error;
use crate::error::Result;

const DEFAULT_WINDOW: Duration = Duration::days(30);
/// Longest window with hourly buckets, which bounds the size of the response.
const LONGEST_BY_HOUR: Duration = Duration::days(8);
const LONGEST: Duration = Duration::days(400);
/// Age until which rollups of minutes are read. Older ends of a window are rounded to whole hours.
pub(super) const MINUTES_READ: Duration = Duration::days(35);

/// Length of a bucket.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Interval {
    Hour,
    #[default]
    Day,
}

impl Interval {
    pub(super) fn milliseconds(self) -> i64 {
        match self {
            Interval::Hour => HOUR,
            Interval::Day => DAY,
        }
    }
}

/// Half-open time window `[from, to)`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Window {
    pub(super) from: Timestamp,
    pub(super) to: Timestamp,
    pub interval: Interval,
    /// Time at which the window was resolved.
    pub(super) now: Timestamp,
}

/// A part of a window and the table that is read for it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Part {
    /// Single requests, for the partial minutes at the ends.
    Requests { from: Timestamp, to: Timestamp },
    /// Rollups of whole minutes, hours or days; `period` is in milliseconds.
    Rollups { period: i64, from: Timestamp, to: Timestamp },
}

impl Window {
    /// Resolves a requested window. `to` defaults to now, `from` to 30 days before the end. The future is cut off.
    ///
    /// # Errors
    /// `Invalid` if the window is empty, starts in the future or is longer than its interval allows.
    pub fn resolve(
        from: Option<OffsetDateTime>,
        to: Option<OffsetDateTime>,
        interval: Interval,
        now: OffsetDateTime,
    ) -> Result<Self> {
        let end = to.unwrap_or(now);
        let from = from.unwrap_or_else(|| end.min(now).saturating_sub(DEFAULT_WINDOW));
        if from >= end {
            return Err(Error::invalid("from", "from must be before to"));
        }
        if from >= now {
            return Err(Error::invalid("from", "from must not be in the future"));
        }
        let end = end.min(now);
        let (longest, field) = match interval {
            Interval::Hour => (LONGEST_BY_HOUR, "interval"),
            Interval::Day => (LONGEST, "from"),
        };
        if end - from > longest {
            let days = longest.whole_days();
            let message = match interval {
                Interval::Hour => format!("buckets of an hour need a range of at most {days} days"),
                Interval::Day => format!("the range must be at most {days} days"),
            };
            return Err(Error::invalid(field, message));
        }
        Ok(Self { from: from_date_time(from), to: from_date_time(end), interval, now: from_date_time(now) })
    }

    pub fn from(&self) -> OffsetDateTime {
        to_date_time(self.from)
    }

    pub fn to(&self) -> OffsetDateTime {
        to_date_time(self.to)
    }

    /// Iterates over the starts of all buckets. The first bucket may start before the window.
    pub(super) fn buckets(&self) -> impl Iterator<Item = Timestamp> {
        let length = self.interval.milliseconds();
        let first = self.bucket_of(self.from).as_millis();
        let starts = (0..).map(move |number| Timestamp::from_millis(first + number * length));
        starts.take_while(move |start| *start < self.to)
    }

    pub(super) fn bucket_of(&self, at: Timestamp) -> Timestamp {
        round_down(at, self.interval.milliseconds())
    }

    /// Splits the window into parts without gaps or overlaps: single requests at the ends, then whole minutes, whole hours,
    /// and whole days in the middle if a bucket is a day.
    pub(super) fn parts(&self) -> Vec<Part> {
        let minutes_since = from_date_time(to_date_time(self.now).saturating_sub(MINUTES_READ));
        let from = if self.from < minutes_since { round_down(self.from, HOUR) } else { self.from };
        let to = if self.to < minutes_since { round_up(self.to, HOUR) } else { self.to };
        let mut parts = Vec::new();
        match self.interval {
            Interval::Hour => split(from, to, &[HOUR, MINUTE], &mut parts),
            Interval::Day => split(from, to, &[DAY, HOUR, MINUTE], &mut parts),
        }
        parts
    }
}

/// Covers a window with the longest of these periods, longest first, and its ends with shorter ones.
fn split(from: Timestamp, to: Timestamp, periods: &[i64], parts: &mut Vec<Part>) {
    if from >= to {
        return;
    }
    let Some((&period, shorter)) = periods.split_first() else {
        parts.push(Part::Requests { from, to });
        return;
    };
    let (first, last) = (round_up(from, period), round_down(to, period));
    if first >= last {
        return split(from, to, shorter, parts);
    }
    split(from, first, shorter, parts);
    parts.push(Part::Rollups { period, from: first, to: last });
    split(last, to, shorter, parts);
}

pub(super) fn round_down(at: Timestamp, period: i64) -> Timestamp {
    Timestamp::from_millis(at.as_millis().div_euclid(period) * period)
}

pub(super) fn round_up(at: Timestamp, period: i64) -> Timestamp {
    round_down(Timestamp::from_millis(at.as_millis().saturating_add(period - 1)), period)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-06-15 12:30:15.250 UTC);

    fn resolve(from: Option<OffsetDateTime>, to: Option<OffsetDateTime>, interval: Interval) -> Result<Window> {
        Window::resolve(from, to, interval, NOW)
    }

    #[test]
    fn default_window_is_the_last_30_days() {
        let window = resolve(None, None, Interval::Day).unwrap();
        assert_eq!((window.from(), window.to()), (NOW - Duration::days(30), NOW));
        assert_eq!(window.buckets().count(), 31);
        let to = datetime!(2026-03-01 00:00 UTC);
        let window = resolve(None, Some(to), Interval::Day).unwrap();
        assert_eq!((window.from(), window.to()), (to - Duration::days(30), to));
        assert_eq!(window.buckets().count(), 30);
        let later = resolve(Some(NOW - Duration::DAY), Some(NOW + Duration::DAY), Interval::Hour).unwrap();
        assert_eq!(later.to(), NOW);
    }

    #[test]
    fn invalid_windows_are_rejected() {
        let rejected = |from, to, interval| match resolve(from, to, interval) {
            Err(Error::Invalid { field, .. }) => field,
            other => panic!("{other:?}"),
        };
        let days = Duration::days;
        assert_eq!(rejected(Some(NOW), Some(NOW), Interval::Day), "from");
        assert_eq!(rejected(Some(NOW), Some(NOW - days(1)), Interval::Day), "from");
        assert_eq!(rejected(Some(NOW + days(1)), Some(NOW + days(2)), Interval::Day), "from");
        assert_eq!(rejected(Some(NOW + days(1)), None, Interval::Day), "from");
        assert_eq!(rejected(Some(NOW - days(9)), None, Interval::Hour), "interval");
        assert_eq!(rejected(None, None, Interval::Hour), "interval");
        assert_eq!(rejected(Some(OffsetDateTime::UNIX_EPOCH), None, Interval::Day), "from");
        assert!(resolve(Some(NOW - days(8) + Duration::SECOND), None, Interval::Hour).is_ok());
    }

    #[test]
    fn parts_cover_the_window_exactly() {
        let at = |from, to, interval| resolve(Some(from), Some(to), interval).unwrap();
        for window in [
            at(datetime!(2026-06-01 10:15 UTC), datetime!(2026-06-05 09:45 UTC), Interval::Day),
            at(datetime!(2026-06-01 10:15 UTC), datetime!(2026-06-05 09:45 UTC), Interval::Hour),
            at(datetime!(2026-06-01 00:00 UTC), datetime!(2026-06-03 00:00 UTC), Interval::Day),
            at(datetime!(2026-06-01 10:15 UTC), datetime!(2026-06-01 10:45 UTC), Interval::Day),
            at(datetime!(2026-06-01 10:15 UTC), datetime!(2026-06-01 11:15 UTC), Interval::Day),
            at(datetime!(2026-06-01 23:00 UTC), datetime!(2026-06-02 01:00 UTC), Interval::Day),
            at(datetime!(2026-06-01 23:00:10 UTC), datetime!(2026-06-02 01:00:59.999 UTC), Interval::Hour),
            at(datetime!(2026-06-01 23:00:10 UTC), datetime!(2026-06-01 23:00:11 UTC), Interval::Day),
            at(datetime!(2026-06-01 23:59:59 UTC), datetime!(2026-06-02 00:00:01 UTC), Interval::Day),
        ] {
            let mut end = window.from;
            for part in window.parts() {
                let (from, to) = match part {
                    Part::Requests { from, to } => {
                        assert!(to.as_millis() - from.as_millis() < 2 * MINUTE);
                        (from, to)
                    }
                    Part::Rollups { period, from, to } => {
                        assert!(
                            round_down(from, period) == from
                                && round_down(to, period) == to
                                && period <= window.interval.milliseconds()
                        );
                        (from, to)
                    }
                };
                assert!(from == end && to > from, "{window:?}");
                end = to;
            }
            assert_eq!(end, window.to);
        }
        let days = at(datetime!(2026-06-01 10:15 UTC), datetime!(2026-06-05 09:45 UTC), Interval::Day).parts();
        assert!(days.iter().any(|part| matches!(part, Part::Rollups { period: DAY, .. })));
    }

    #[test]
    fn old_ends_are_rounded_to_hours() {
        let (from, to) = (datetime!(2026-01-01 10:15:30 UTC), datetime!(2026-01-01 12:45 UTC));
        let parts = resolve(Some(from), Some(to), Interval::Hour).unwrap().parts();
        let hour = |time| from_date_time(time);
        let (from, to) = (hour(datetime!(2026-01-01 10:00 UTC)), hour(datetime!(2026-01-01 13:00 UTC)));
        assert_eq!(parts, [Part::Rollups { period: HOUR, from, to }]);
    }
}
