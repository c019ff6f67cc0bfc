//! Prompts for the model, their cost, and the reading of its answers.

mod fence;
pub(super) mod json;
pub(super) mod judge;
pub(super) mod plan;
pub(super) mod write;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::assignment::Budget;
use super::state::State;

/// Tokens that only the report may use, at most a third of the budget.
const WRITE_RESERVE: u32 = 16_000;

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
    /// Positions in [`State::notes`] of the passages in the material.
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
    fn bytes(&self) -> usize {
        let schema = self.schema.as_ref().map_or(0, |schema| schema.to_string().len());
        self.system.len() + self.material.len() + self.instructions.len() + schema
    }
}

/// Upper bound of the tokens that a prompt costs: a token has at least two bytes of text on average, in any script.
fn bound(prompt: &Prompt) -> u64 {
    (prompt.bytes() as u64).div_ceil(2) + u64::from(prompt.max_tokens)
}

/// Returns true if the prompt leaves enough tokens for the report.
pub(super) fn is_affordable(state: &State, budget: &Budget, prompt: &Prompt) -> bool {
    let reserve = u64::from(WRITE_RESERVE.min(budget.max_tokens / 3));
    state.spent.tokens.saturating_add(bound(prompt)).saturating_add(reserve) <= u64::from(budget.max_tokens)
}

/// Returns the tokens that an answer cost: as reported, else a token for four bytes. A report beyond the bound that the
/// prompt was admitted with is an error of the endpoint.
pub(super) fn charge(prompt: &Prompt, answer: &str, reported: Option<u64>) -> u64 {
    let estimate = ((prompt.bytes() + answer.len()) as u64).div_ceil(4);
    reported.unwrap_or(estimate).min(bound(prompt))
}
