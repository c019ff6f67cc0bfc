#![doc = include_str!("../README.md")]

mod compute;
mod departures;
mod fair_semaphore;
mod limits;
mod patience;
mod queues;
mod threads;

pub use compute::{Compute, ComputeError, Stop};
pub use fair_semaphore::{FairSemaphore, Permit};
pub use limits::{Limits, Overloaded};
pub use threads::BACKGROUND_NICENESS;
