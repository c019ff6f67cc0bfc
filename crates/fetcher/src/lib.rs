//! Bytes of public pages, and nothing of the operator's network. See README.md.

mod body;
mod client;
mod error;
mod failure;
mod fetcher;
mod guard;
mod options;
mod page;
mod page_kind;
mod resolver;
mod robots;
mod targets;
mod trail;
mod turns;

pub use error::{FetchError, OptionsError, TimeoutStage};
pub use fetcher::Fetcher;
pub use guard::AddressGuard;
pub use ipnet::IpNet;
pub use options::{FetcherOptions, Politeness, TimeLimits};
pub use page::{FetchRequest, Fetched, FetchedPage, Validators};
pub use resolver::{Resolver, SystemResolver};
