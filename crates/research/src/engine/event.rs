//! Events that a run stores with its state.

use model::DocId;
use serde::{Deserialize, Serialize};

use super::stored;

/// Something that happened in a step.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Event {
    /// The questions were decided.
    Plan { questions: Vec<String> },
    /// A search ended.
    Search { question: usize, query: String, hits: usize, new_sources: usize },
    /// A document was read, or could not be.
    Document {
        question: usize,
        #[serde(with = "stored::id")]
        doc_id: DocId,
        canonical_url: String,
        title: Option<String>,
        passages: usize,
        readable: bool,
    },
    /// A passage was kept.
    Note {
        note: usize,
        #[serde(with = "stored::id")]
        doc_id: DocId,
        questions: Vec<usize>,
        quote: String,
    },
    /// The next part of the verified report. Joined, the parts are its text.
    OutputDelta { text: String },
}

impl Event {
    /// Last part of the event's name on the wire.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Plan { .. } => "plan",
            Self::Search { .. } => "search",
            Self::Document { .. } => "document",
            Self::Note { .. } => "note",
            Self::OutputDelta { .. } => "output_delta",
        }
    }
}
