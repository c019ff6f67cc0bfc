#![doc = include_str!("../README.md")]

mod buffered_input;
mod coding;
mod fields;
pub mod http;
mod http_error;
mod reader;
mod record;
mod stream;

pub use fields::Fields;
pub use reader::{Entry, Reader};
pub use record::{Damage, Record};

#[cfg(test)]
mod tests;
