use api_types::Passage;
use serde::Serialize;
use uuid::Uuid;

use super::size::{Size, chars, prefix};
use super::text::quoted;

/// A quote in an answer.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Quote {
    /// Absent for text that is not a passage, such as a snippet.
    #[serde(skip_serializing_if = "Option::is_none")]
    passage_id: Option<Uuid>,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    char_start: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    char_end: Option<i64>,
    /// True if the text is only the beginning of the passage.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

impl Quote {
    pub fn of(passage: &Passage) -> Self {
        Self {
            passage_id: Some(passage.passage_id),
            text: passage.text.clone(),
            char_start: passage.char_start,
            char_end: passage.char_end,
            truncated: false,
        }
    }

    pub fn plain(text: &str) -> Self {
        Self { passage_id: None, text: text.trim().to_owned(), char_start: None, char_end: None, truncated: false }
    }

    /// Removes the offsets, which serve citations of documents that were read.
    pub fn without_offsets(self) -> Self {
        Self { text: self.text.trim().to_owned(), char_start: None, char_end: None, ..self }
    }

    /// Returns the quote with at most `most` characters of text, cut at a blank if one is near.
    pub fn cut(&self, most: usize) -> Self {
        if chars(&self.text) <= most {
            return self.clone();
        }
        let start = prefix(&self.text, most);
        let words = start.rfind(char::is_whitespace).filter(|end| *end > start.len() / 2).unwrap_or(start.len());
        // The end of the quoted part is no longer that of the passage.
        Self { text: start[..words].trim_end().to_owned(), char_end: None, truncated: true, ..self.clone() }
    }

    pub fn markdown(&self) -> String {
        let mut markdown = quoted(&self.text);
        if self.truncated {
            markdown.push_str(" [...]");
        }
        markdown
    }

    /// The size with the blank line that separates two quotes.
    pub fn size(&self) -> Size {
        Size::of(&self.markdown(), self) + Size { text: 1, json: 0 }
    }
}
