//! State of a run between its steps, as it is stored.

use serde::{Deserialize, Serialize};

use super::StoredRequest;
use crate::engine::{Assignment, State};

/// State of the engine, and what the runner must remember.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct StoredState {
    pub engine: State,
    /// True once the balance did not cover a search: no more are made.
    pub out_of_balance: bool,
}

impl StoredState {
    pub fn new(request: &StoredRequest) -> Self {
        Self { engine: State::new(&request.assignment), out_of_balance: false }
    }

    /// Returns the assignment with the budget that is left to it.
    pub fn assignment(&self, request: &StoredRequest) -> Assignment {
        let mut assignment = request.assignment.clone();
        if self.out_of_balance {
            assignment.budget.max_searches = assignment.budget.max_searches.min(self.engine.spent.searches);
        }
        assignment
    }
}
