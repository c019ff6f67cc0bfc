use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Worker program and its limits.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// Program whose `main` ends in [`crate::run`].
    pub program: PathBuf,
    /// Arguments that make the program a worker, such as a hidden subcommand.
    pub args: Vec<OsString>,
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
    /// Returns limits that suffice for real documents of up to 100 MiB, for workers that run `program` with `args`.
    pub fn new(program: PathBuf, args: Vec<OsString>) -> Self {
        Self {
            program,
            args,
            workers: std::thread::available_parallelism().map_or(2, usize::from),
            memory_bytes: 1 << 30,
            cpu_seconds: 30,
            wall: Duration::from_secs(60),
            idle: Duration::from_secs(30),
            max_output_bytes: 64 << 20,
            files_per_worker: 200,
        }
    }
}
