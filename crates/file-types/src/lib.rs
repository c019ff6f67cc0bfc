#![doc = include_str!("../README.md")]

mod content_type;
mod kind;
mod name;
mod plain_text;

pub use content_type::ContentType;
pub use kind::FileKind;
pub use name::sanitize;
pub use plain_text::is_plain_text;
