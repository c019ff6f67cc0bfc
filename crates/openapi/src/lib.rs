#![doc = include_str!("../README.md")]

mod document;
mod errors;
mod examples;
mod headers;
pub mod operations;
pub mod parameters;
pub mod reference;

pub use document::document;
pub use operations::{Operation, Tag};
pub use parameters::Parameter;
