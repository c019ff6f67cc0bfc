#![doc = include_str!("../README.md")]

mod dates;
mod document;
pub mod exa;
pub mod firecrawl;
pub mod openwebui;
mod plan;
pub mod reader;
mod request;
pub mod searxng;
mod service;
pub mod tavily;

pub use document::{Failure, FailureKind, MAX_URLS, ReadOutcome};
pub use plan::SearchPlan;
pub use request::{Refusal, Refused, Unsupported, parse};
pub use service::{Answered, ErrorReply, ForeignRead, ForeignRequest, ForeignSearch, Hit, Moment, Service};
