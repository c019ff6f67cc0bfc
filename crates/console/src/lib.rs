#![doc = include_str!("../README.md")]

mod files;
mod policy;

pub use files::{File, INDEX, files, page};
pub use policy::content_security_policy;
