#![doc = include_str!("../README.md")]

mod death;
mod extractor;
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

pub use extractor::{Extractor, InProcess, Input};
pub use options::WorkerOptions;
pub use pool::WorkerPool;
pub use serve::run;
