//! Times of spans as times of day.

use std::time::{Duration, Instant};

use model::Clock;

/// Difference beyond which the clock counts as set. Smaller ones come from its resolution and its drift.
const TOLERANCE: Duration = Duration::from_millis(50);

/// Pair of a monotonic time and its time of day, in nanoseconds since the epoch. It is kept while it is right, so that the order of
/// the spans of a trace does not depend on the resolution of the clock.
#[derive(Clone, Copy, Debug)]
pub struct WallTime {
    at: Instant,
    nanos: u64,
}

impl WallTime {
    pub fn new(clock: &dyn Clock) -> Self {
        Self { at: Instant::now(), nanos: nanos_of(clock) }
    }

    /// Follows a clock that was set.
    pub fn update(&mut self, clock: &dyn Clock) {
        let fresh = Self::new(clock);
        if self.nanos(fresh.at).abs_diff(fresh.nanos) > u64::try_from(TOLERANCE.as_nanos()).unwrap_or(u64::MAX) {
            *self = fresh;
        }
    }

    /// Returns the time of day of a monotonic time.
    pub fn nanos(&self, time: Instant) -> u64 {
        let as_nanos = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        match time.checked_duration_since(self.at) {
            Some(after) => self.nanos.saturating_add(as_nanos(after)),
            None => self.nanos.saturating_sub(as_nanos(self.at.saturating_duration_since(time))),
        }
    }
}

fn nanos_of(clock: &dyn Clock) -> u64 {
    u64::try_from(clock.now().as_millis()).unwrap_or(0).saturating_mul(1_000_000)
}

#[cfg(test)]
mod tests {
    use model::{ManualClock, Timestamp};

    use super::*;

    #[test]
    fn times_keep_their_distances_and_follow_a_clock_that_was_set() {
        let clock = ManualClock::starting_at(Timestamp::from_millis(1_700_000_000_000));
        let mut wall = WallTime::new(&clock);
        let (early, late) = (wall.at - Duration::from_nanos(5), wall.at + Duration::from_nanos(7));
        assert_eq!((wall.nanos(early), wall.nanos(late)), (1_699_999_999_999_999_995, 1_700_000_000_000_000_007));
        clock.advance(Duration::from_millis(1));
        wall.update(&clock);
        assert_eq!(wall.nanos(late), 1_700_000_000_000_000_007, "the resolution of the clock changes nothing");
        clock.advance(Duration::from_secs(60));
        wall.update(&clock);
        assert!(wall.nanos(late) >= 1_700_000_060_000_000_000, "{wall:?}");
    }
}
