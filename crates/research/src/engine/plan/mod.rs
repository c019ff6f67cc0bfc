//! Plan by rules: questions from the query, and wordings for their searches.

mod clauses;
mod comparison;
pub(super) mod filler;
mod lists;
mod marks;
pub(super) mod wordings;

pub use split::{SubQuestion, split};

mod split;
