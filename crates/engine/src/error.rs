use std::error::Error;

/// Error class, by the reaction that it requires.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EngineErrorKind {
    /// The engine is down, slow or overloaded: retry later.
    Unavailable,
    /// The engine rejected the request: a bug or a misconfiguration.
    Rejected,
    /// The engine panicked on the request: a bug that this input reveals.
    Panicked,
    /// The index is missing, damaged or of another version: rebuild it.
    Corrupt,
}

/// Error of a search engine, with its cause as the source.
#[derive(Debug, thiserror::Error)]
#[error("search engine {kind:?}: {message}")]
pub struct EngineError {
    pub kind: EngineErrorKind,
    pub message: String,
    #[source]
    pub source: Option<Box<dyn Error + Send + Sync>>,
}

impl EngineError {
    pub fn new(kind: EngineErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}
