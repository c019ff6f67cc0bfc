//! Converts documents to clean markdown, in this process or in a bounded worker process.

mod blocks;
mod charset;
mod dates;
mod delimited;
mod error;
mod extracted;
mod family;
mod front_matter;
mod html;
mod kind;
mod language;
mod magic;
mod names;
mod odf;
mod office;
mod pdf;
mod plain_text;
mod read;
mod rtf;
mod table;
mod tidy;
pub mod worker;

pub use error::{ExtractError, ExtractErrorKind};
pub use extracted::{DateSource, ExtractRequest, Extracted};
pub use kind::FileKind;
pub use read::{InProcess, extract};

use async_trait::async_trait;

/// Document reader: [`worker::WorkerPool`] uses separate processes, [`InProcess`] the current one.
#[async_trait]
pub trait Extractor: Send + Sync {
    /// Reads one document. Always returns and never panics: a document that breaks its reader is an error.
    async fn extract(&self, request: ExtractRequest, input: worker::Input) -> Result<Extracted, ExtractError>;
}
