use api_types::{Warning, WarningCode};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::size::{Size, json_chars};
use super::text::line;

/// Longest line of a note or warning, in characters.
const MAX_LINE: usize = 240;

/// Longest details of a warning, in characters of JSON.
const MAX_DETAILS: usize = 200;

/// Maximum number of notes, and of warnings.
const MAX_LINES: usize = 5;

/// The last lines of an answer: remarks and the next call.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Tail {
    /// Remarks about the arguments and about omitted parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "slim")]
    warnings: Vec<Warning>,
    /// The most useful next call.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl Tail {
    pub fn new(notes: Vec<String>, warnings: &[Warning]) -> Self {
        let mut tail = Self::default();
        notes.into_iter().for_each(|note| tail.note(note));
        // What is cut off is evident from the answer itself.
        let shown = |warning: &&Warning| {
            !matches!(warning.code, WarningCode::ContentTruncated | WarningCode::ResponseTruncated)
        };
        tail.warnings = warnings.iter().filter(shown).take(MAX_LINES).cloned().collect();
        tail
    }

    pub fn note(&mut self, note: impl AsRef<str>) {
        if self.notes.len() < MAX_LINES {
            self.notes.push(line(note.as_ref(), MAX_LINE));
        }
    }

    pub fn next(&mut self, next: impl Into<String>) {
        self.next = Some(next.into());
    }

    /// Drops lines until the tail takes at most a sixth of `limit`, so that the answer itself has room.
    pub fn shorten(&mut self, limit: usize) {
        while !self.size().fits(limit / 6)
            && (self.warnings.pop().is_some() || self.notes.pop().is_some() || self.next.take().is_some())
        {}
    }

    pub fn size(&self) -> Size {
        let text = self.lines().map(|line| line.chars().count() + 1).sum();
        Size { text, json: json_chars(self) }
    }

    pub fn lines(&self) -> impl Iterator<Item = String> {
        let notes = self.notes.iter().map(|note| format!("Note: {note}"));
        let warnings = self.warnings.iter().map(|warning| {
            let code = serde_json::to_value(warning.code).unwrap_or_default();
            format!("Warning {}: {}", code.as_str().unwrap_or_default(), line(&warning.message, MAX_LINE))
        });
        notes.chain(warnings).chain(self.next.iter().map(|next| format!("Next: {next}")))
    }
}

/// Writes warnings with short messages and details only.
fn slim<S: Serializer>(warnings: &[Warning], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(warnings.iter().map(|warning| {
        let mut slim = Warning { message: line(&warning.message, MAX_LINE), ..warning.clone() };
        if json_chars(&Value::Object(slim.details.clone())) > MAX_DETAILS {
            slim.details.clear();
        }
        slim
    }))
}
