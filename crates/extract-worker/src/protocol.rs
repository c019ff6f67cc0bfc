//! Frames between pool and worker.
//!
//! A frame is the length of a JSON header (`u32`, little endian), the header, and a payload whose length the header
//! names. To the worker: [`Task`] and the document's bytes. From the worker: [`Reply`] and the markdown. Each task gets one
//! reply, in order; the worker ends at the end of its input.

use extract::{ExtractError, ExtractErrorKind, ExtractRequest, Extracted};
use serde::{Deserialize, Serialize};

/// Maximum header size in bytes, so that a worker cannot fill the pool's memory. Headers hold names and properties only.
pub const MAX_HEADER_BYTES: usize = 1 << 20;
/// Maximum length of a property in characters.
const MAX_FIELD_CHARS: usize = 4_096;
const MAX_LABELS: usize = 64;

#[derive(Debug, Serialize, Deserialize)]
pub struct Task {
    pub request: ExtractRequest,
    /// Length in bytes of the document that follows.
    pub bytes: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    Read {
        /// Properties, without the markdown.
        extracted: Extracted,
        /// Length in bytes of the UTF-8 markdown that follows.
        bytes: u64,
    },
    Failed(ExtractError),
}

/// Returns the start of a frame: the length and the header.
pub fn head(header: &impl Serialize) -> Result<Vec<u8>, ExtractError> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, header).map_err(|error| broken(format!("unwritable header: {error}")))?;
    let length = frame.len() - 4;
    if length > MAX_HEADER_BYTES {
        return Err(ExtractError::too_large(format!("a header of {length} bytes")));
    }
    frame[..4].copy_from_slice(&(length as u32).to_le_bytes());
    Ok(frame)
}

/// Truncates a document's properties, so that the header of every reply fits its limit.
pub fn trim(extracted: &mut Extracted) {
    for field in [
        &mut extracted.title,
        &mut extracted.author,
        &mut extracted.description,
        &mut extracted.language,
        &mut extracted.canonical_link,
    ] {
        let end = field.as_deref().and_then(|text| text.char_indices().nth(MAX_FIELD_CHARS)).map(|(at, _)| at);
        if let (Some(text), Some(end)) = (field, end) {
            text.truncate(end);
        }
    }
    extracted.labels.truncate(MAX_LABELS);
}

/// Returns the error for a violation of the protocol.
pub fn broken(message: impl Into<String>) -> ExtractError {
    ExtractError::new(ExtractErrorKind::Crashed, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_truncated_between_characters() {
        let mut extracted =
            Extracted { title: Some("é".repeat(5_000)), author: Some("Ann".into()), ..Extracted::default() };
        trim(&mut extracted);
        assert_eq!(extracted.title.map(|title| title.chars().count()), Some(4_096));
        assert_eq!(extracted.author.as_deref(), Some("Ann"));
    }

    #[test]
    fn head_starts_with_its_length() {
        let head = head(&Reply::Failed(broken("x"))).expect("a head");
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        assert_eq!(length, head.len() - 4);
        assert!(matches!(serde_json::from_slice(&head[4..]), Ok(Reply::Failed(_))));
    }
}
