//! Prompts for the model, their cost, and the reading of its answers.

mod fence;
pub(super) mod json;
pub(super) mod judge;
pub(super) mod plan;
pub(super) mod write;

use super::assignment::Budget;
use super::prompt::Prompt;
use super::state::State;

/// Tokens that only the report may use, at most a third of the budget.
const WRITE_RESERVE: u32 = 16_000;

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
