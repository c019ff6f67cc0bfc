//! Starts of the requests to one host.

use std::time::Duration;

use tokio::time::Instant;

/// Starts that are taken, each with the delay after it. Pure: it neither waits nor locks.
pub(crate) struct Schedule {
    /// Earliest start after the requests that were sent.
    free_from: Instant,
    /// Slots of requests that were not sent yet, in order. As many as the host has permits, at most.
    taken: Vec<Slot>,
}

/// Start of a request, and the end of the delay after it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Slot {
    pub start: Instant,
    end: Instant,
}

impl Schedule {
    pub fn new(now: Instant) -> Self {
        Self { free_from: now, taken: Vec::new() }
    }

    /// Takes the first free slot, which may lie between taken ones, where another was given back. Takes nothing and returns
    /// the wait if that exceeds `max_wait`.
    pub fn take(&mut self, delay: Duration, now: Instant, max_wait: Duration) -> Result<Slot, Duration> {
        let mut start = self.free_from.max(now);
        for slot in &self.taken {
            if start + delay <= slot.start {
                break;
            }
            start = start.max(slot.end);
        }
        let wait = start - now;
        if wait > max_wait {
            return Err(wait);
        }
        let slot = Slot { start, end: start + delay };
        let position = self.taken.partition_point(|taken| taken.start <= start);
        self.taken.insert(position, slot);
        Ok(slot)
    }

    /// Ends the slot of a request that was sent: its delay remains.
    pub fn sent(&mut self, slot: Slot) {
        self.give_back(slot);
        self.free_from = self.free_from.max(slot.end);
    }

    /// Gives back the slot of a request that is not sent.
    pub fn give_back(&mut self, slot: Slot) {
        if let Some(position) = self.taken.iter().position(|taken| *taken == slot) {
            self.taken.remove(position);
        }
    }

    /// Returns true if a new schedule would be the same.
    pub fn is_idle(&self, now: Instant) -> bool {
        self.taken.is_empty() && self.free_from <= now
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const DELAY: Duration = Duration::from_secs(2);

    #[test]
    fn slots_follow_each_other() {
        let now = Instant::now();
        let mut schedule = Schedule::new(now);
        let slots = [0, 1, 2].map(|_| schedule.take(DELAY, now, Duration::MAX).unwrap());
        assert_eq!(slots.map(|slot| slot.start), [now, now + DELAY, now + 2 * DELAY]);
        slots.into_iter().for_each(|slot| schedule.sent(slot));
        assert_eq!(schedule.take(DELAY, now, Duration::MAX).unwrap().start, now + 3 * DELAY);
    }

    #[test]
    fn slot_that_was_given_back_is_taken_again() {
        let now = Instant::now();
        let mut schedule = Schedule::new(now);
        let mut last = schedule.take(DELAY, now, Duration::MAX).unwrap();
        for _ in 0..100 {
            let next = schedule.take(DELAY, now, Duration::MAX).unwrap();
            // It is not the last one.
            schedule.give_back(last);
            last = next;
        }
        schedule.give_back(last);
        assert!(schedule.is_idle(now));
        assert_eq!(schedule.take(DELAY, now, Duration::MAX).unwrap().start, now);
    }

    #[test]
    fn slot_that_is_too_far_away_is_not_taken() {
        let now = Instant::now();
        let mut schedule = Schedule::new(now);
        schedule.take(DELAY, now, Duration::ZERO).unwrap();
        for _ in 0..2 {
            assert_eq!(schedule.take(DELAY, now, DELAY / 2), Err(DELAY));
        }
        assert_eq!(schedule.take(DELAY, now, DELAY).unwrap().start, now + DELAY);
    }
}
