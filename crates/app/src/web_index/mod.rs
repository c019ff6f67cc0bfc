//! The shared web index: crawls and pages, as functions over a docstore for the operator's commands, and as use cases for keys
//! that may manage it.

pub mod crawls;
pub mod filling;
pub mod pages;
pub mod report;
pub(crate) mod sources;
pub mod stats;
mod use_cases;

pub use sources::WebState;
pub use use_cases::PagesQuery;
