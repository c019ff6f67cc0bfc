#![doc = include_str!("../README.md")]

mod brave;
mod endpoint;
mod mapped;
mod retry_after;
mod searxng;

pub use brave::{Brave, BraveOptions};
pub use endpoint::EndpointError;
pub use mapped::{Mapped, MappedOptions, Mapping, QueryPlace};
pub use searxng::{Searxng, SearxngOptions};
