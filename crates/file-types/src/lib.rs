#![doc = include_str!("../README.md")]

mod content_type;
mod kind;
mod name;

pub use content_type::ContentType;
pub use kind::FileKind;
pub use name::sanitize;
