//! Fetches public web pages without exposing the operator's network. See README.md.

mod admitted;
mod body;
mod client;
mod connector;
mod error;
mod fetcher;
mod guard;
mod host_limiter;
mod http_errors;
mod options;
mod outcomes;
mod page;
mod page_kind;
mod permits;
mod poster;
mod redirects;
mod render;
mod resolver;
mod robots;
mod shared;
mod targets;
mod visit;

pub use admitted::AdmittedFetch;
pub use connector::Connector;
pub use error::{FetchError, OptionsError, RobotsFailure, TimeoutStage};
pub use fetcher::Fetcher;
pub use guard::AddressGuard;
pub use ipnet::IpNet;
pub use options::{FetcherOptions, Politeness, TimeLimits};
pub use outcomes::register_metrics;
pub use page::{FetchRequest, Fetched, FetchedPage, Validators};
pub use poster::{PostReply, Poster};
pub use render::{RenderError, RenderRequest, Renderer};
pub use resolver::{Resolver, SystemResolver};
pub use robots::HostRules;
pub use visit::{Accept, Visit, VisitBody, VisitRequest};
