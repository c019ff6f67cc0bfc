use serde::{Deserialize, Serialize};

/// Maximum length of a message in characters.
const MAX_MESSAGE_CHARS: usize = 4_096;

/// Cause of a failed extraction.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtractErrorKind {
    /// This build does not read files of this kind.
    Unsupported,
    /// The content does not match the extension.
    WrongType,
    /// The file is truncated, damaged or malformed.
    Corrupt,
    /// The file is password protected.
    Encrypted,
    /// The document has pages but no text, such as scanned images.
    NeedsOcr,
    /// The input, its unpacked size or its text exceeds a limit.
    TooLarge,
    /// Extraction exceeded the CPU or wall time limit.
    TimedOut,
    /// Extraction exceeded the memory limit.
    OutOfMemory,
    /// The reader panicked or its process died.
    Crashed,
}

impl ExtractErrorKind {
    /// Returns the snake_case reason stored for a failed file.
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

/// A failed extraction. The message is for operators and may quote a third-party library.
#[derive(Clone, Debug, thiserror::Error, Serialize, Deserialize)]
#[error("{}: {message}", kind.as_str())]
pub struct ExtractError {
    pub kind: ExtractErrorKind,
    pub message: String,
}

impl ExtractError {
    /// Returns an error whose message is one line of at most 4,096 characters. It may quote the document: control
    /// characters become spaces, since databases refuse NUL.
    pub fn new(kind: ExtractErrorKind, message: impl Into<String>) -> Self {
        let message: String = message.into();
        let message = message.chars().take(MAX_MESSAGE_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect();
        Self { kind, message }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_short_lines() {
        let error = ExtractError::wrong_type("not `odt` but `application/x\0y`\r\n\u{9f}é");
        assert_eq!(error.message, "not `odt` but `application/x y`   é");
        assert_eq!(ExtractError::corrupt("é".repeat(5_000)).message.chars().count(), 4_096);
    }
}
