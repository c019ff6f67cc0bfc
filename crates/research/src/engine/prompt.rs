//! A request to the model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Request to the model.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Prompt {
    pub purpose: Purpose,
    pub system: String,
    /// Passages between delimiters that do not occur in them. Empty if there are none.
    pub material: String,
    /// Request of the caller; it follows the material.
    pub instructions: String,
    /// JSON Schema of the answer; `None` for a report as text.
    #[serde(default)]
    pub schema: Option<Value>,
    /// Maximum length of the answer.
    pub max_tokens: u32,
    /// Positions in [`super::State::notes`] of the passages in the material.
    #[serde(default)]
    pub shown: Vec<usize>,
}

/// Purpose of a prompt.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    Plan,
    Judge,
    Write,
}

impl Prompt {
    /// Length of everything that the model reads.
    pub(super) fn bytes(&self) -> usize {
        let schema = self.schema.as_ref().map_or(0, |schema| schema.to_string().len());
        self.system.len() + self.material.len() + self.instructions.len() + schema
    }
}
