use std::error::Error;

/// What a caller can do about it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EngineErrorKind {
    /// The engine is down, slow or overloaded: try again later.
    Unavailable,
    /// The engine refused what we sent: a fault of ours or of its settings.
    Rejected,
    /// The index is damaged or of another version: rebuild it.
    Corrupt,
}

/// A failure of the engine, with its cause as the source.
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
