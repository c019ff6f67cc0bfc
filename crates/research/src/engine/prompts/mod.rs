//! Prompts for the model, their cost, and the reading of its answers.

mod fence;
pub(super) mod json;
pub(super) mod judge;
pub(super) mod plan;
pub(super) mod write;

use super::assignment::{Assignment, Budget};
use super::prompt::Prompt;
use super::state::State;

/// A model's answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer<'a> {
    pub text: &'a str,
    /// True if it ends at the limit of tokens.
    pub truncated: bool,
}

impl Answer<'_> {
    /// Returns the beginning of the answer, of at most `max` bytes.
    fn beginning(self, max: usize) -> Self {
        let text = &self.text[..self.text.floor_char_boundary(max)];
        Self { text, truncated: self.truncated || text.len() < self.text.len() }
    }
}

/// Tokens that only the report may use, at most a third of the budget.
const WRITE_RESERVE: u32 = 16_000;

/// Upper bound of the tokens that a prompt costs: a token has at least two bytes of text on average, in any script.
fn bound(prompt: &Prompt) -> u64 {
    (prompt.bytes() as u64).div_ceil(2) + u64::from(prompt.max_tokens)
}

/// Returns true if the prompt leaves enough tokens for the report.
pub(super) fn is_affordable(state: &State, budget: &Budget, prompt: &Prompt) -> bool {
    bound(prompt) <= left_beside_report(state, budget)
}

fn left_beside_report(state: &State, budget: &Budget) -> u64 {
    let reserve = u64::from(WRITE_RESERVE.min(budget.max_tokens / 3));
    u64::from(budget.max_tokens).saturating_sub(state.spent.tokens.saturating_add(reserve))
}

/// Raises the limit of an answer to that of the model, as far as the tokens suffice: reasoning counts too, and may be
/// many times as long as the answer.
fn with_reasoning(mut prompt: Prompt, state: &State, assignment: &Assignment) -> Prompt {
    let answer = prompt.max_tokens;
    let others = bound(&prompt) - u64::from(answer);
    let left = left_beside_report(state, &assignment.budget).saturating_sub(others);
    let left = u32::try_from(left).unwrap_or(u32::MAX);
    prompt.max_tokens = left.min(assignment.max_answer_tokens).max(answer);
    prompt
}

/// Returns the tokens that an answer cost: as reported, else a token for four bytes. A report beyond the bound that the
/// prompt was admitted with is an error of the endpoint.
pub(super) fn charge(prompt: &Prompt, answer: &str, reported: Option<u64>) -> u64 {
    let estimate = ((prompt.bytes() + answer.len()) as u64).div_ceil(4);
    reported.unwrap_or(estimate).min(bound(prompt))
}
