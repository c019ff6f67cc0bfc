use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::{priority, system_memory};

/// Worker program and its limits.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// Program whose `main` ends in [`crate::run`].
    pub program: PathBuf,
    /// Arguments that make the program a worker, such as a hidden subcommand.
    pub args: Vec<OsString>,
    /// Workers refuse to run unless the system confines them: no files, no network, no programs.
    pub sandbox_required: bool,
    /// Quick documents of one organization that are read at a time, in each lane. At least 1. One more is read of the others.
    pub workers: usize,
    /// Slow documents that are read at a time, in each lane and in addition. At least 1.
    pub slow_workers: usize,
    /// CPU time after which a document counts as slow and gives way to others that wait.
    pub quick_time: Duration,
    /// Maximum time for which a page waits for a worker. Files of runs wait however long it takes.
    pub max_page_wait: Duration,
    /// Address space of one worker in bytes (`RLIMIT_AS`): the unpacked document, and some 200 MiB for the program and its
    /// stacks.
    pub memory_bytes: u64,
    /// CPU seconds per document, after which the worker is ended.
    pub cpu_seconds: u64,
    /// Maximum wall time per document. Each has ten times its CPU time, so that only workers that hang or starve reach it.
    pub wall: Duration,
    /// Time without work after which a worker is ended.
    pub idle: Duration,
    /// Maximum bytes of markdown; more is [`extract::ExtractErrorKind::TooLarge`].
    pub max_output_bytes: usize,
    /// Documents after which a worker is replaced, because readers leak and memory fragments. At least 1.
    pub files_per_worker: u32,
}

impl WorkerOptions {
    /// Returns limits that suffice for real documents of up to 100 MiB, for workers that run `program` with `args`. In each lane an
    /// organization has a quick worker per core, and all have half as many slow ones, as far as half of the memory holds them.
    pub fn new(program: PathBuf, args: Vec<OsString>) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let Shares { workers, slow_workers, memory_bytes } = shares(cores, system_memory::total());
        Self {
            program,
            args,
            sandbox_required: false,
            workers,
            slow_workers,
            quick_time: Duration::from_secs(1),
            max_page_wait: Duration::from_secs(8),
            memory_bytes,
            cpu_seconds: CPU_SECONDS,
            wall: Duration::from_secs(CPU_SECONDS).saturating_mul(priority::SLOWDOWN),
            idle: Duration::from_secs(30),
            max_output_bytes: 64 << 20,
            files_per_worker: 200,
        }
    }
}

/// CPU time of a document: real ones of up to 100 MiB take less.
const CPU_SECONDS: u64 = 30;
/// Memory of a worker on a machine that has enough, and on a small one.
const WORKER_BYTES: u64 = 1 << 30;
const SMALL_WORKER_BYTES: u64 = 400 << 20;

/// Workers of a machine.
#[derive(Debug, Eq, PartialEq)]
struct Shares {
    workers: usize,
    slow_workers: usize,
    memory_bytes: u64,
}

/// Returns the workers of each lane that fit both the cores and half of the memory. A small machine has smaller workers, since both
/// lanes need two quick ones and a slow one.
fn shares(cores: usize, memory: Option<u64>) -> Shares {
    let budget = memory.map_or(u64::MAX, |memory| memory / 2);
    let per_lane = usize::try_from(budget / WORKER_BYTES / 2).unwrap_or(usize::MAX).max(3);
    let slow_workers = cores.div_ceil(2).min(per_lane / 3);
    let workers = cores.min(per_lane - slow_workers - 1);
    let all = (workers + 1 + slow_workers) as u64 * 2;
    Shares { workers, slow_workers, memory_bytes: (budget / all).clamp(SMALL_WORKER_BYTES, WORKER_BYTES) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_limits_the_workers() {
        const GIB: u64 = 1 << 30;
        let shares = |cores, memory| {
            let Shares { workers, slow_workers, memory_bytes } = shares(cores, memory);
            (workers, slow_workers, memory_bytes)
        };
        assert_eq!(shares(2, Some(64 * GIB)), (2, 1, GIB));
        assert_eq!(shares(16, Some(32 * GIB)), (5, 2, GIB));
        assert_eq!(shares(8, None), (8, 4, GIB));
        assert_eq!(shares(4, Some(12 * GIB)), (1, 1, GIB));
        assert_eq!(shares(2, Some(6 * GIB)), (1, 1, GIB / 2), "smaller ones");
        assert_eq!(shares(2, Some(GIB)), (1, 1, SMALL_WORKER_BYTES), "a small machine still has one of each");
    }

    #[test]
    fn documented_numbers_are_those_of_shares() {
        let page = include_str!("../../../docs/operations.md");
        let section = page.split("\n### ").find(|section| section.starts_with("Number and memory of workers\n"));
        let rows = section.into_iter().flat_map(str::lines).filter_map(|line| {
            let (cores, rest) = line.strip_prefix("| ")?.split_once(" | ")?;
            Some((line, cores.parse().ok()?, rest.split_once(" GiB | ")?.0.parse().ok()?))
        });
        let rows: Vec<(&str, usize, u64)> = rows.collect();
        assert!(rows.len() > 4, "{rows:?}");
        for (row, cores, gib) in rows {
            let Shares { workers, slow_workers, memory_bytes } = shares(cores, Some(gib << 30));
            // Both lanes, each with a quick worker that one organization leaves to the others.
            let (all, mib) = (2 * (workers as u64 + 1 + slow_workers as u64), memory_bytes >> 20);
            let percent = (all * mib * 100 + (gib << 9)) / (gib << 10);
            let expected = format!("| {cores} | {gib} GiB | {all} | {mib} MiB | {percent} % of the memory |");
            assert_eq!(row, expected);
        }
    }
}
