#![doc = include_str!("../README.md")]

pub mod conformance;
mod limiter;
mod memory;

pub use limiter::{Decision, RateLimitError, RateLimiter, SharedCounter, window_end, window_of};
pub use memory::MemoryLimiter;
