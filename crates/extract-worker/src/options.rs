use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;

/// The worker program and its bounds.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// The program; its `main` ends in [`super::run`].
    pub program: PathBuf,
    /// What makes the program a worker, such as a hidden subcommand.
    pub args: Vec<OsString>,
    /// Processes at one time; further documents wait. At least 1.
    pub workers: usize,
    /// Address space of one worker (`RLIMIT_AS`): what documents unpack to, beside some 200 MiB for the program and
    /// its stacks.
    pub memory_bytes: u64,
    /// CPU time for one document.
    pub cpu_seconds: u64,
    /// Time for one document, however it is spent; then the worker is killed.
    pub wall: Duration,
    /// A worker without work for so long is ended.
    pub idle: Duration,
    /// More markdown than this is [`crate::ExtractErrorKind::TooLarge`].
    pub max_output_bytes: usize,
    /// A worker that has read so many documents is replaced: readers leak and memory fragments. At least 1.
    pub files_per_worker: u32,
}

impl WorkerOptions {
    /// Bounds that real documents of up to 100 MiB stay in, for workers that are `program` with `args`.
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

/// The bytes of a document.
#[derive(Clone, Debug)]
pub enum Input {
    Bytes(Bytes),
    /// Streamed to the worker, never whole in the memory of this process.
    File(PathBuf),
}
