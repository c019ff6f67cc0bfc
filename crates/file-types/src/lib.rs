#![doc = include_str!("../README.md")]

mod attachment;
mod content_type;
mod kind;
pub mod label;
mod name;
mod plain_text;

pub use attachment::{attachment, download_type};
pub use content_type::ContentType;
pub use kind::FileKind;
pub use name::{MAX_NAME_CHARS, sanitize};
pub use plain_text::is_plain_text;
