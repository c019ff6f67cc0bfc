//! Answers in two forms of the same content: markdown for clients that pass on the text, and slim JSON for clients that
//! pass on the structured content. Each form fits the budget.

mod document;
mod files;
mod hits;
mod passage;
mod research;
mod size;
mod tail;
mod text;

use api_types::ErrorCode;
use serde::Serialize;
use serde_json::Value;

pub(crate) use document::document;
pub(crate) use files::{FilePage, files, fitting};
pub(crate) use hits::hits;
pub(crate) use research::{research, research_call};
pub(crate) use tail::Tail;
pub(crate) use text::line;

use crate::Failure;

/// A successful result.
#[derive(Debug)]
pub(crate) struct Answer {
    pub text: String,
    pub structured: Value,
}

impl Answer {
    pub fn new(text: String, structured: &impl Serialize) -> Result<Self, Failure> {
        // Answers hold strings, numbers, lists and maps with string keys, which always serialize.
        let structured = serde_json::to_value(structured)
            .map_err(|_| Failure::new(ErrorCode::InternalError, "the response cannot be serialized"))?;
        Ok(Self { text, structured })
    }

    /// Builds a short answer: one line and the tail.
    pub fn short(line: String, fields: &impl Serialize, tail: &Tail) -> Result<Self, Failure> {
        #[derive(Serialize)]
        struct Short<'a, T> {
            #[serde(flatten)]
            fields: &'a T,
            #[serde(flatten)]
            tail: &'a Tail,
        }
        let lines: Vec<String> = std::iter::once(line).chain(tail.lines()).collect();
        Self::new(lines.join("\n"), &Short { fields, tail })
    }
}
