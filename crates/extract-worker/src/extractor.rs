use std::path::PathBuf;

use async_trait::async_trait;
use bytes::Bytes;
use extract::{ExtractError, ExtractErrorKind, ExtractRequest, Extracted, extract};

use crate::Compartment;

/// Bytes of a document.
#[derive(Clone, Debug)]
pub enum Input {
    Bytes(Bytes),
    /// File that is streamed to the worker; it is never whole in the memory of this process.
    File(PathBuf),
}

/// Reader of documents: [`crate::WorkerPool`] uses other processes, [`InProcess`] this one.
#[async_trait]
pub trait Extractor: Send + Sync {
    /// Reads one document. Never panics and always ends. A process that has read a document reads no document of another
    /// compartment.
    ///
    /// # Errors
    /// The failure of the document's reader, crashes and exceeded limits included.
    async fn extract(
        &self,
        compartment: &Compartment,
        request: ExtractRequest,
        input: Input,
    ) -> Result<Extracted, ExtractError>;
}

/// Extractor without process limits, for tests and for tools that read their user's own files.
#[derive(Clone, Copy, Debug, Default)]
pub struct InProcess;

#[async_trait]
impl Extractor for InProcess {
    async fn extract(&self, _: &Compartment, request: ExtractRequest, input: Input) -> Result<Extracted, ExtractError> {
        let bytes = match input {
            Input::Bytes(bytes) => bytes,
            Input::File(path) => tokio::fs::read(&path).await.map(Bytes::from).map_err(|error| {
                ExtractError::new(ExtractErrorKind::Crashed, format!("`{}`: {error}", path.display()))
            })?,
        };
        tokio::task::spawn_blocking(move || extract(&request, &bytes))
            .await
            .map_err(|error| ExtractError::new(ExtractErrorKind::Crashed, error.to_string()))?
    }
}
