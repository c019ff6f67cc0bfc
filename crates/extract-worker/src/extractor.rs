use std::path::PathBuf;

use async_trait::async_trait;
use bytes::Bytes;
use extract::{ExtractError, ExtractErrorKind, ExtractRequest, Extracted, extract};

use crate::{Lane, Turn, WorkError};

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
    /// Reads one document in its turn. Never panics and always ends; dropping the future stops the reading. A process that has
    /// read a document reads no document of another compartment.
    ///
    /// # Errors
    /// The failure of the document's reader, crashes and exceeded limits included; no worker for a page, or no core for a worker;
    /// no worker at all, or no input; others come before a file.
    async fn extract(&self, turn: &Turn, request: ExtractRequest, input: Input) -> Result<Extracted, WorkError>;

    /// Reads one document of a run, again if it was postponed.
    ///
    /// # Errors
    /// As [`extract`](Self::extract).
    async fn extract_to_the_end(
        &self,
        turn: &Turn,
        request: ExtractRequest,
        input: Input,
    ) -> Result<Extracted, WorkError> {
        match self.extract(turn, request.clone(), input.clone()).await {
            Err(WorkError::Postponed) => {
                self.extract(&Turn { lane: Lane::PostponedRuns, ..turn.clone() }, request, input).await
            }
            outcome => outcome,
        }
    }
}

/// Extractor without process limits, for tests and for tools that read their user's own files.
#[derive(Clone, Copy, Debug, Default)]
pub struct InProcess;

#[async_trait]
impl Extractor for InProcess {
    async fn extract(&self, _: &Turn, request: ExtractRequest, input: Input) -> Result<Extracted, WorkError> {
        let bytes = match input {
            Input::Bytes(bytes) => bytes,
            Input::File(path) => {
                let read = tokio::fs::read(&path).await.map(Bytes::from);
                read.map_err(|error| WorkError::Unavailable(format!("reading `{}`: {error}", path.display())))?
            }
        };
        let reading = tokio::task::spawn_blocking(move || extract(&request, &bytes)).await;
        Ok(reading.map_err(|error| ExtractError::new(ExtractErrorKind::Crashed, error.to_string()))??)
    }
}
