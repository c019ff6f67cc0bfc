//! Starts of the requests to one host.

use std::time::Duration;

use tokio::time::Instant;

/// Share of the delay by which a slot may reach into the next planned one: requests are sent some milliseconds late, and their
/// delay begins then. [`Schedule::confirm`] keeps the exact delay.
const OVERLAP: u32 = 8;

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
    /// The request is sent next. Others keep the delay to it.
    is_confirmed: bool,
}

impl Slot {
    fn delay(&self) -> Duration {
        self.end - self.start
    }
}

impl Schedule {
    pub fn new(now: Instant) -> Self {
        Self { free_from: now, taken: Vec::new() }
    }

    /// Takes the first free slot, which may lie between taken ones, where another was given back. Takes nothing and returns
    /// the wait if that exceeds `max_wait`.
    pub fn take(&mut self, delay: Duration, now: Instant, max_wait: Duration) -> Result<Slot, Duration> {
        let mut start = self.free_from().max(now);
        for slot in self.taken.iter().filter(|slot| !slot.is_confirmed) {
            if start + delay <= slot.start + delay / OVERLAP {
                break;
            }
            start = start.max(slot.end);
        }
        let wait = start - now;
        if wait > max_wait {
            return Err(wait);
        }
        Ok(self.insert(Slot { start, end: start + delay, is_confirmed: false }))
    }

    /// Confirms a slot whose time has come: its request is sent next. Returns `None` if the slot came too late, and the delay after
    /// another request has not passed.
    pub fn confirm(&mut self, slot: Slot, now: Instant) -> Option<Slot> {
        if self.free_from() > now {
            return None;
        }
        self.give_back(slot);
        Some(self.insert(Slot { start: now, end: now + slot.delay(), is_confirmed: true }))
    }

    /// Ends the slot of a request that is sent now: its delay remains.
    pub fn sent(&mut self, slot: Slot, now: Instant) {
        self.give_back(slot);
        self.free_from = self.free_from.max(now + slot.delay());
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

    /// Returns the earliest start after the requests that were sent, or are sent next.
    fn free_from(&self) -> Instant {
        let confirmed = self.taken.iter().filter(|slot| slot.is_confirmed);
        confirmed.map(|slot| slot.end).fold(self.free_from, Instant::max)
    }

    fn insert(&mut self, slot: Slot) -> Slot {
        let position = self.taken.partition_point(|taken| taken.start <= slot.start);
        self.taken.insert(position, slot);
        slot
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
        slots.into_iter().for_each(|slot| schedule.sent(slot, slot.start));
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

    #[test]
    fn slot_that_came_too_late_keeps_the_delay() {
        let now = Instant::now();
        let mut schedule = Schedule::new(now);
        let [first, second, third] = [0, 1, 2].map(|_| schedule.take(DELAY, now, Duration::MAX).unwrap());
        // All waited for something else until now.
        let now = now + 10 * DELAY;
        let first = schedule.confirm(first, now).unwrap();
        assert_eq!(schedule.confirm(second, now), None, "the first one is sent next");
        schedule.sent(first, now + DELAY / 2);
        assert_eq!(schedule.confirm(second, now + DELAY), None, "the first one was sent late");
        schedule.give_back(second);
        let second = schedule.take(DELAY, now + DELAY, Duration::MAX).unwrap();
        assert_eq!(second.start, now + DELAY * 3 / 2);
        assert!(schedule.confirm(third, second.start).is_some(), "whoever comes first");
        assert_eq!(schedule.confirm(second, second.start), None);
    }

    #[test]
    fn slot_that_is_slightly_late_keeps_its_place() {
        let now = Instant::now();
        let mut schedule = Schedule::new(now);
        let [first, second, third] = [0, 1, 2].map(|_| schedule.take(DELAY, now, Duration::MAX).unwrap());
        let late = Duration::from_millis(2);
        let first = schedule.confirm(first, now + late).unwrap();
        schedule.sent(first, now + late);
        assert_eq!(schedule.confirm(second, second.start), None);
        schedule.give_back(second);
        let again = schedule.take(DELAY, second.start, Duration::MAX).unwrap();
        assert_eq!(again.start, second.start + late);
        assert!(again.start < third.start);
    }
}
