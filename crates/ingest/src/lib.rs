#![doc = include_str!("../README.md")]

pub mod clock;
pub mod embed;
pub mod feeder;
pub mod fetched;
pub mod leases;
pub mod objects;
pub mod pages;
pub mod prepare;
pub mod run;
pub mod scripted;
pub mod supervisor;
pub mod terms;
mod turns;

pub use embed::EmbeddingWorker;
pub use feeder::{Feeder, Ownership};
pub use pages::{PageError, PageReader, PageReaderOptions};
pub use run::{Runner, RunnerOptions};
pub use scripted::Scripted;
pub use supervisor::Supervisor;
