//! Frames between pool and worker.
//!
//! A frame is the length of a JSON header (`u32`, little endian), the header, and a payload whose length the header
//! names. To the worker: [`Task`] and the document's bytes. From the worker: [`Reply`] and the markdown. One reply for
//! each task, in turn; the end of its input ends the worker.

use serde::{Deserialize, Serialize};

use crate::{ExtractError, ExtractErrorKind, ExtractRequest, Extracted};

/// Headers are small: names and properties. The bound keeps a worker from filling the pool's memory.
pub(super) const MAX_HEADER_BYTES: usize = 1 << 20;
/// Longest property that is passed on, in characters.
const MAX_FIELD_CHARS: usize = 4_096;
const MAX_LABELS: usize = 64;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Task {
    pub request: ExtractRequest,
    /// Bytes of the document that follow.
    pub bytes: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    Read {
        /// Without its markdown.
        extracted: Extracted,
        /// Bytes of markdown that follow, UTF-8.
        bytes: u64,
    },
    Failed(ExtractError),
}

/// Length and header of a frame.
pub(super) fn head(header: &impl Serialize) -> Result<Vec<u8>, ExtractError> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, header).map_err(|error| broken(format!("unwritable header: {error}")))?;
    let length = frame.len() - 4;
    if length > MAX_HEADER_BYTES {
        return Err(ExtractError::too_large(format!("a header of {length} bytes")));
    }
    frame[..4].copy_from_slice(&(length as u32).to_le_bytes());
    Ok(frame)
}

/// Cuts what a document may say of itself to a sensible size, so that every reply has a header within its bound.
pub(super) fn trim(extracted: &mut Extracted) {
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

pub(super) fn trim_error(error: &mut ExtractError) {
    if let Some((end, _)) = error.message.char_indices().nth(MAX_FIELD_CHARS) {
        error.message.truncate(end);
    }
}

/// The other side does not keep to the protocol.
pub(super) fn broken(message: impl Into<String>) -> ExtractError {
    ExtractError::new(ExtractErrorKind::Crashed, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_cut_between_characters() {
        let mut extracted =
            Extracted { title: Some("é".repeat(5_000)), author: Some("Ann".into()), ..Extracted::default() };
        trim(&mut extracted);
        assert_eq!(extracted.title.map(|title| title.chars().count()), Some(4_096));
        assert_eq!(extracted.author.as_deref(), Some("Ann"));
    }

    #[test]
    fn a_head_says_its_length() {
        let head = head(&Reply::Failed(broken("x"))).expect("a head");
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        assert_eq!(length, head.len() - 4);
        assert!(matches!(serde_json::from_slice(&head[4..]), Ok(Reply::Failed(_))));
    }
}
