//! Converts documents to clean markdown.

mod blocks;
mod charset;
mod dates;
mod delimited;
mod error;
mod extracted;
mod family;
mod formula;
mod front_matter;
mod html;
mod language;
mod level_counts;
mod literal;
mod magic;
mod names;
mod number_format;
mod odf;
mod office;
mod pdf;
mod plain_text;
mod read;
mod rtf;
mod table;
mod terminal;
mod tidy;
mod xml;

pub use error::{ExtractError, ExtractErrorKind};
pub use extracted::{DateSource, ExtractRequest, Extracted};
pub use file_types::FileKind;
pub use html::decode as decode_html;
pub use read::extract;
