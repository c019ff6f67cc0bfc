#![doc = include_str!("../README.md")]

mod document;
mod errors;
mod examples;
mod headers;
mod method;
mod operation;
pub mod operations;
pub mod parameters;
pub mod reference;
mod tag;

pub use document::document;
pub use examples::Example;
pub use method::Method;
pub use operation::{COMMON_ERRORS, Input, InvalidRequest, Operation, Spec, Visit};
pub use parameters::{Parameter, PathParameters, QueryParameters};
pub use tag::Tag;
