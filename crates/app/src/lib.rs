//! Use cases: what the service does, one function each, with no HTTP and no JSON.

pub mod documents;
pub mod error;
pub mod feedback;
pub mod files;
pub mod search;
pub mod viewer;

pub use error::{Error, Result};
pub use viewer::{Identity, Permission, Viewer};
