//! Tokens that a call of a model has used.

/// Usage as reported by the endpoint.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Tokens {
    pub prompt: u64,
    pub completion: u64,
}

impl Tokens {
    /// Returns the tokens of prompt and answer together.
    pub fn total(self) -> u64 {
        self.prompt.saturating_add(self.completion)
    }
}
