//! Pace of a document: what its worker computes, and how long that takes.
//!
//! CPU time decides whether a document is slow. Wall time would blame it for the load of others.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::cpu_time::CpuClock;
use crate::{Turn, WorkerOptions, priority};

/// Part of the wall limit after which a worker that computes nothing hangs. One of low priority gets at least some time slices.
const STILL_PART: u32 = 10;

/// Time limits of one document.
#[derive(Clone, Copy, Debug)]
pub struct TimeLimits {
    /// CPU time after which the document is slow.
    quick: Duration,
    pub cpu: Duration,
    pub wall: Duration,
}

/// Time that a document has taken so far.
#[derive(Clone, Copy, Debug)]
struct Taken {
    /// `None` where the system does not tell.
    cpu: Option<Duration>,
    wall: Duration,
    /// Wall time since its worker was last seen to compute.
    still: Duration,
}

/// Meaning of the time that a document has taken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Pace {
    Quick,
    Slow,
    /// It has used its CPU time.
    TooLong,
    /// It computed to the end of its wall time, and others had the cores.
    Starved,
    /// It does nothing, or the system does not tell.
    Hanging,
}

impl TimeLimits {
    pub fn new(options: &WorkerOptions, turn: &Turn) -> Self {
        let cpu = Duration::from_secs(options.cpu_seconds.max(1));
        let cpu = turn.time_limit.map_or(cpu, |limit| limit.min(cpu));
        let wall = cpu.saturating_mul(priority::SLOWDOWN).min(options.wall);
        Self { quick: options.quick_time, cpu, wall }
    }

    fn pace(&self, taken: Taken) -> Pace {
        let Taken { cpu, wall, still } = taken;
        if cpu.is_some_and(|cpu| cpu >= self.cpu) {
            return Pace::TooLong;
        }
        if wall >= self.wall {
            let computes = cpu.is_some() && still < self.wall / STILL_PART;
            return if computes { Pace::Starved } else { Pace::Hanging };
        }
        if cpu.unwrap_or(wall) >= self.quick { Pace::Slow } else { Pace::Quick }
    }
}

/// Clocks of one document.
pub struct Meter {
    clock: Option<Arc<CpuClock>>,
    started: Instant,
    /// CPU time of the worker before the document.
    before: Option<Duration>,
    cpu: Option<Duration>,
    computed: Instant,
}

impl Meter {
    /// Begins a document that the process of the clock reads.
    pub fn start(clock: Option<Arc<CpuClock>>) -> Self {
        let now = Instant::now();
        let before = clock.as_deref().and_then(CpuClock::read);
        Self { clock, started: now, before, cpu: before.map(|_| Duration::ZERO), computed: now }
    }

    /// Reads the clocks and returns the pace of the document.
    pub fn pace(&mut self, limits: &TimeLimits) -> Pace {
        let now = Instant::now();
        let total = self.clock.as_deref().and_then(CpuClock::read);
        // A process that has just ended has no clock any more: the last time stays.
        if let (Some(total), Some(before)) = (total, self.before) {
            let cpu = Some(total.saturating_sub(before));
            if cpu > self.cpu {
                (self.cpu, self.computed) = (cpu, now);
            }
        }
        let (wall, still) = (now.duration_since(self.started), now.duration_since(self.computed));
        limits.pace(Taken { cpu: self.cpu, wall, still })
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use model::OrganizationId;
    use uuid::Uuid;

    use super::*;
    use crate::{Compartment, Lane};

    fn turn(time_limit: Option<Duration>) -> Turn {
        let organization_id = OrganizationId(Uuid::from_u128(1));
        Turn { organization_id, lane: Lane::Pages, compartment: Compartment::new("one"), time_limit }
    }

    fn limits(time_limit: Option<Duration>) -> TimeLimits {
        TimeLimits::new(&WorkerOptions::new(PathBuf::from("worker"), Vec::new()), &turn(time_limit))
    }

    fn pace(cpu: Option<u64>, wall: u64, still: u64) -> Pace {
        let page = limits(Some(Duration::from_secs(15)));
        let milliseconds = Duration::from_millis;
        page.pace(Taken { cpu: cpu.map(milliseconds), wall: milliseconds(wall), still: milliseconds(still) })
    }

    #[test]
    fn computation_makes_a_document_slow_and_waiting_does_not() {
        assert_eq!(pace(Some(900), 1_000, 0), Pace::Quick);
        assert_eq!(pace(Some(900), 60_000, 0), Pace::Quick, "others had the cores");
        assert_eq!(pace(Some(0), 60_000, 60_000), Pace::Quick, "it waits");
        assert_eq!(pace(Some(1_000), 1_000, 0), Pace::Slow);
        assert_eq!(pace(Some(14_900), 149_000, 0), Pace::Slow, "a tenth of a core");
        assert_eq!(pace(Some(15_000), 15_000, 0), Pace::TooLong);
        assert_eq!(pace(Some(15_000), 150_000, 0), Pace::TooLong);
    }

    #[test]
    fn lack_of_cores_is_told_from_hanging() {
        assert_eq!(pace(Some(7_000), 150_000, 100), Pace::Starved);
        assert_eq!(pace(Some(7_000), 150_000, 15_000), Pace::Hanging, "it stopped after some work");
        assert_eq!(pace(Some(0), 150_000, 150_000), Pace::Hanging);
    }

    #[test]
    fn wall_time_decides_where_cpu_time_is_unknown() {
        assert_eq!(pace(None, 900, 900), Pace::Quick);
        assert_eq!(pace(None, 1_000, 1_000), Pace::Slow);
        assert_eq!(pace(None, 150_000, 150_000), Pace::Hanging);
    }

    #[test]
    fn wall_time_is_long_enough_for_the_cpu_time_at_low_priority() {
        let (page, file) = (limits(Some(Duration::from_secs(15))), limits(None));
        assert_eq!((page.cpu, page.wall), (Duration::from_secs(15), Duration::from_secs(150)));
        assert_eq!((file.cpu, file.wall), (Duration::from_secs(30), Duration::from_secs(300)));
        assert_eq!(limits(Some(Duration::from_hours(1))).cpu, file.cpu, "no longer than the workers' own limit");
    }
}
