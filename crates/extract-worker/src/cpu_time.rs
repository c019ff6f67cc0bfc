//! CPU time of a worker, as the kernel counts it.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// Room for `/proc/PID/stat`, which has some fifty numbers.
const STAT_BYTES: usize = 2_048;

/// Clock of the CPU time of one process.
pub struct CpuClock(File);

impl CpuClock {
    /// Opens the clock of a process; `None` where the system has none. Call it as soon as the process runs: a system may hide
    /// processes that have dropped their rights (`hidepid`), but what is open stays readable.
    pub fn of(process: u32) -> Option<Self> {
        File::open(format!("/proc/{process}/stat")).ok().map(Self)
    }

    /// Returns the CPU time of all threads of the process; `None` if the process is gone.
    pub fn read(&self) -> Option<Duration> {
        let mut stat = [0; STAT_BYTES];
        let length = self.0.read_at(&mut stat, 0).ok()?;
        let stat = String::from_utf8_lossy(stat.get(..length)?);
        parse(&stat, rustix::param::clock_ticks_per_second())
    }
}

/// Returns the time in user and in system mode of `/proc/PID/stat` (proc_pid_stat(5)).
fn parse(stat: &str, ticks_per_second: u64) -> Option<Duration> {
    // The second field, the name of the program, may contain spaces and parentheses. The times are fields 14 and 15.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_ascii_whitespace().skip(11);
    let user: u64 = times.next()?.parse().ok()?;
    let system: u64 = times.next()?.parse().ok()?;
    let milliseconds = user.saturating_add(system).saturating_mul(1_000).checked_div(ticks_per_second)?;
    Some(Duration::from_millis(milliseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_process_without_its_children() {
        let stat = "71 (a (b) c) S 1 71 71 0 -1 4194560 900 8000 0 0 250 30 4000 5000 20 0 2 0 1234 5 6 7";
        assert_eq!(parse(stat, 100), Some(Duration::from_millis(2_800)));
        assert_eq!(parse(stat, 0), None);
        assert_eq!(parse("71 (a) S 1 71", 100), None);
        assert_eq!(parse("", 100), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn clock_runs_while_the_process_computes() {
        let clock = CpuClock::of(std::process::id()).expect("a clock");
        let before = clock.read().expect("a time");
        while clock.read().expect("a time") <= before {
            let _ = std::hint::black_box((0..100_000_u64).fold(0, u64::wrapping_add));
        }
    }
}
