//! Machine, date and commit of a measurement.

use super::process::kilobytes;
use crate::shell;
use serde::Serialize;
use std::process::Command;

/// Circumstances of a measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    pub cpu: String,
    pub cores: usize,
    pub memory_gb: f64,
    /// Short commit of the work tree, with `-dirty` if it has changes.
    pub commit: String,
    /// UTC, RFC 3339.
    pub date: String,
    /// Load average of the minute before the start, from other work on the machine.
    pub load_before: f64,
}

/// Describes this machine.
///
/// # Errors
///
/// Returns an error if git or date fails.
pub fn describe() -> anyhow::Result<Machine> {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let model = read("/proc/cpuinfo")
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':').map(|(_, name)| name.trim().to_owned()));
    let load = read("/proc/loadavg").split(' ').next().and_then(|load| load.parse().ok());
    Ok(Machine {
        cpu: model.unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        cores: std::thread::available_parallelism().map_or(0, usize::from),
        memory_gb: kilobytes(&read("/proc/meminfo"), "MemTotal:").unwrap_or(0) as f64 / 1e6,
        commit: shell::output(shell::git().args(["describe", "--always", "--dirty", "--exclude=*"]))?,
        date: shell::output(Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]))?,
        load_before: load.unwrap_or(0.0),
    })
}
