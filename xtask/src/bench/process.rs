//! Resource usage of a running process (Linux: /proc).

use anyhow::Context;
use std::path::Path;
use std::time::Duration;

/// Unit of CPU time in /proc: `USER_HZ` is 100 on every machine that Linux supports.
const TICK: Duration = Duration::from_millis(10);

/// Returns the current resident memory in bytes, including child processes (extraction workers).
///
/// Shared pages count twice.
///
/// # Errors
///
/// Returns an error without such a process or without /proc.
pub fn resident(pid: u32) -> anyhow::Result<u64> {
    let mut total = resident_alone(pid)?;
    for child in children(pid) {
        // A child may exit in between.
        total += field(child, "VmRSS:").unwrap_or(0);
    }
    Ok(total)
}

/// Returns the current resident memory in bytes, without child processes.
///
/// # Errors
///
/// Returns an error without such a process or without /proc.
pub fn resident_alone(pid: u32) -> anyhow::Result<u64> {
    field(pid, "VmRSS:")
}

/// Returns the peak resident memory in bytes, without child processes.
///
/// # Errors
///
/// Returns an error without such a process or without /proc.
pub fn peak(pid: u32) -> anyhow::Result<u64> {
    field(pid, "VmHWM:")
}

/// Sets the peak to the current memory, where the system permits it.
pub fn reset_peak(pid: u32) {
    // Without it the peak includes earlier work: a figure that is too high rather than too low.
    let _ = std::fs::write(format!("/proc/{pid}/clear_refs"), "5");
}

/// Returns the number of open sockets.
///
/// # Errors
///
/// Returns an error without such a process or without /proc.
pub fn sockets(pid: u32) -> anyhow::Result<usize> {
    let path = format!("/proc/{pid}/fd");
    let open = std::fs::read_dir(&path).with_context(|| format!("cannot read `{path}`"))?;
    // A descriptor that was closed meanwhile has no target.
    let targets = open.filter_map(|descriptor| std::fs::read_link(descriptor.ok()?.path()).ok());
    Ok(targets.filter(|target| target.as_os_str().as_encoded_bytes().starts_with(b"socket:")).count())
}

/// Returns the CPU time used so far, in steps of 10 ms, without child processes.
///
/// # Errors
///
/// Returns an error without such a process or without /proc.
pub fn cpu_time(pid: u32) -> anyhow::Result<Duration> {
    let path = format!("/proc/{pid}/stat");
    let stat = std::fs::read_to_string(&path).with_context(|| format!("cannot read `{path}`"))?;
    ticks(&stat).map(|ticks| TICK * ticks).with_context(|| format!("`{path}` has no times"))
}

/// Returns user plus system time (fields 14 and 15, proc(5)). The name before them may contain spaces and brackets.
fn ticks(stat: &str) -> Option<u32> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11).map_while(|field| field.parse::<u32>().ok());
    Some(times.next()? + times.next()?)
}

fn field(pid: u32, name: &str) -> anyhow::Result<u64> {
    let path = format!("/proc/{pid}/status");
    let status = std::fs::read_to_string(&path).with_context(|| format!("cannot read `{path}`"))?;
    kilobytes(&status, name).map(|kb| kb * 1024).with_context(|| format!("`{path}` has no {name}"))
}

/// Returns the number in a line such as `VmRSS:     1234 kB`.
pub fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Returns the child processes of all threads of `pid`.
fn children(pid: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(Path::new("/proc").join(pid.to_string()).join("task"));
    let lists = tasks.into_iter().flatten().flatten().map(|task| task.path().join("children"));
    let ids = lists.filter_map(|list| std::fs::read_to_string(list).ok());
    ids.flat_map(|list| list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<u32>>()).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may end early")]
    use super::{cpu_time, kilobytes, peak, resident, ticks};
    use std::time::{Duration, Instant};

    #[test]
    fn status_fields_are_parsed() {
        assert_eq!(kilobytes("VmPeak:\t 5 kB\nVmRSS:\t    1234 kB\n", "VmRSS:"), Some(1234));
        assert_eq!(kilobytes("VmPeak:\t 5 kB\n", "VmRSS:"), None);
    }

    #[test]
    fn times_are_parsed_after_any_name() {
        let stat = "7 (a b) c) S 1 7 7 0 -1 4194560 9 0 0 0 250 31 5 6 20 0 9 0 100 0 0";
        assert_eq!(ticks(stat), Some(281));
        assert_eq!(ticks("7 (a"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn own_cpu_time_grows() {
        let before = cpu_time(std::process::id()).unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        while cpu_time(std::process::id()).unwrap() == before {
            assert!(Instant::now() < deadline, "our CPU time does not grow");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn own_memory_is_known() {
        let touched = std::hint::black_box(vec![1_u8; 8 << 20]);
        assert!(resident(std::process::id()).unwrap() > touched.len() as u64);
        assert!(peak(std::process::id()).unwrap() > touched.len() as u64);
    }
}
