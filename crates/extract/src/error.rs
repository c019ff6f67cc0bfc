use serde::{Deserialize, Serialize};

/// Why a document could not be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtractErrorKind {
    /// No reader supports the kind.
    Unsupported,
    /// The content is of another type than the name says.
    WrongType,
    /// Cut off, damaged or not well formed.
    Corrupt,
    /// It opens with a password only.
    Encrypted,
    /// It has pages but no text: pictures of text.
    NeedsOcr,
    /// The input, what it unpacks to, or the text in it is over a limit.
    TooLarge,
    /// It took more CPU or wall time than allowed.
    TimedOut,
    /// It took more memory than allowed.
    OutOfMemory,
    /// The reader broke down on it.
    Crashed,
}

impl ExtractErrorKind {
    /// The snake_case reason kept for a failed file.
    pub fn as_str(self) -> &'static str {
        match self {
            ExtractErrorKind::Unsupported => "unsupported",
            ExtractErrorKind::WrongType => "wrong_type",
            ExtractErrorKind::Corrupt => "corrupt",
            ExtractErrorKind::Encrypted => "encrypted",
            ExtractErrorKind::NeedsOcr => "needs_ocr",
            ExtractErrorKind::TooLarge => "too_large",
            ExtractErrorKind::TimedOut => "timed_out",
            ExtractErrorKind::OutOfMemory => "out_of_memory",
            ExtractErrorKind::Crashed => "crashed",
        }
    }
}

/// A failed extraction. The message is for operators: it may quote what a third-party reader said.
#[derive(Clone, Debug, thiserror::Error, Serialize, Deserialize)]
#[error("{}: {message}", kind.as_str())]
pub struct ExtractError {
    pub kind: ExtractErrorKind,
    pub message: String,
}

impl ExtractError {
    pub fn new(kind: ExtractErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub(crate) fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ExtractErrorKind::Corrupt, message)
    }

    pub(crate) fn wrong_type(message: impl Into<String>) -> Self {
        Self::new(ExtractErrorKind::WrongType, message)
    }

    pub(crate) fn encrypted(message: impl Into<String>) -> Self {
        Self::new(ExtractErrorKind::Encrypted, message)
    }

    /// Returns a `TooLarge` error.
    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(ExtractErrorKind::TooLarge, message)
    }
}
