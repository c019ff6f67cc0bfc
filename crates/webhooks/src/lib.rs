#![doc = include_str!("../README.md")]

mod events;
mod schedule;
mod sender;
mod signature;
mod worker;

pub use events::{research_ended, run_ended};
pub use fetcher::IpNet;
pub use sender::{RefusedUrl, Sender, SenderOptions};
pub use signature::{Headers, VerifyError, generate_secret, sign, verify};
pub use worker::{Worker, WorkerOptions, register_metrics};
