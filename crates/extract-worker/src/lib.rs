//! Extraction in separate processes: what a document does to its reader costs one process and one error.
//!
//! [`WorkerPool`] starts worker processes on demand and talks to them through their standard input and output
//! ([`protocol`]); [`run`] is what the worker program does. A worker gives up its rights before it reads the first
//! byte ([`jail`]), and everything it says is checked as if it came from the document's author.

mod fate;
mod jail;
#[cfg(target_os = "linux")]
mod jail_linux;
mod limits;
mod options;
mod pool;
mod process;
mod protocol;
mod serve;
mod spawner;

pub use options::{Input, WorkerOptions};
pub use pool::WorkerPool;
pub use serve::run;
