#![doc = include_str!("../README.md")]

mod compartment;
mod cpu_time;
mod death;
mod extractor;
mod jail;
#[cfg(target_os = "linux")]
mod jail_linux;
mod lanes;
mod limits;
mod options;
mod pace;
mod pool;
mod priority;
mod process;
mod protocol;
mod sandbox;
mod serve;
mod spawner;
mod system_memory;
mod turn;
mod work_error;

pub use compartment::Compartment;
pub use extractor::{Extractor, InProcess, Input};
pub use options::WorkerOptions;
pub use pool::WorkerPool;
pub use sandbox::SandboxReport;
pub use serve::run;
pub use turn::{Lane, Turn};
pub use work_error::WorkError;
