#![doc = include_str!("../README.md")]
mod error;
mod guard;
mod options;
mod target;

pub use error::{FetchError, OptionsError, TimeoutStage};
pub use guard::AddressGuard;
pub use ipnet::IpNet;
pub use options::{FetcherOptions, Politeness, TimeLimits};
