use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::system_memory;

/// Worker program and its limits.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// Program whose `main` ends in [`crate::run`].
    pub program: PathBuf,
    /// Arguments that make the program a worker, such as a hidden subcommand.
    pub args: Vec<OsString>,
    /// Workers refuse to run unless the system confines them: no files, no network, no programs.
    pub sandbox_required: bool,
    /// Maximum number of processes; further documents wait. At least 1.
    pub workers: usize,
    /// Address space of one worker in bytes (`RLIMIT_AS`): the unpacked document, and some 200 MiB for the program and its
    /// stacks.
    pub memory_bytes: u64,
    /// CPU seconds per document.
    pub cpu_seconds: u64,
    /// Wall time per document, after which the worker is killed.
    pub wall: Duration,
    /// Time without work after which a worker is ended.
    pub idle: Duration,
    /// Maximum bytes of markdown; more is [`extract::ExtractErrorKind::TooLarge`].
    pub max_output_bytes: usize,
    /// Documents after which a worker is replaced, because readers leak and memory fragments. At least 1.
    pub files_per_worker: u32,
}

impl WorkerOptions {
    /// Returns limits that suffice for real documents of up to 100 MiB, for workers that run `program` with `args`. There is
    /// one worker per core, but not more than half of the memory holds.
    pub fn new(program: PathBuf, args: Vec<OsString>) -> Self {
        let memory_bytes = 1 << 30;
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            program,
            args,
            sandbox_required: false,
            workers: workers_for(cores, system_memory::total(), memory_bytes),
            memory_bytes,
            cpu_seconds: 30,
            wall: Duration::from_secs(60),
            idle: Duration::from_secs(30),
            max_output_bytes: 64 << 20,
            files_per_worker: 200,
        }
    }
}

/// Returns the number of workers of `each` bytes that fit both the cores and half of the memory, at least 1.
fn workers_for(cores: usize, memory: Option<u64>, each: u64) -> usize {
    let fitting = memory.map_or(usize::MAX, |memory| usize::try_from(memory / 2 / each).unwrap_or(usize::MAX));
    cores.min(fitting).max(1)
}

#[cfg(test)]
mod tests {
    use super::workers_for;

    #[test]
    fn memory_limits_the_number_of_workers() {
        const GIB: u64 = 1 << 30;
        assert_eq!(workers_for(16, Some(8 * GIB), GIB), 4);
        assert_eq!(workers_for(2, Some(64 * GIB), GIB), 2);
        assert_eq!(workers_for(8, Some(GIB / 2), GIB), 1, "a small machine still has one");
        assert_eq!(workers_for(8, None, GIB), 8);
    }
}
