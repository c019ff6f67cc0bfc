#![doc = include_str!("../README.md")]

mod base_url;
mod calls;
mod document;
mod errors;
mod examples;
mod headers;
mod host;
pub mod llms;
mod method;
mod operation;
pub mod operations;
pub mod parameters;
pub mod reference;
mod tag;

pub use base_url::BaseUrl;
pub use calls::{Call, Language};
pub use document::{document, document_below};
pub use examples::Example;
pub use host::{Host, Reach};
pub use method::Method;
pub use operation::{COMMON_ERRORS, Input, InvalidRequest, Operation, Spec, Visit};
pub use parameters::{Parameter, PathParameters, QueryParameters};
pub use tag::Tag;
