//! A report whose quotes are not verified yet.

use serde_json::Value;

use super::super::result::{Confidence, Engine, Problem};
use super::Quote;

/// A report before its quotes are verified.
pub(crate) struct Draft {
    pub text: String,
    pub structured: Option<Value>,
    pub truncated: bool,
    pub engine: Engine,
    /// In the order of their numbers, with the places of the first marks.
    pub quotes: Vec<(Quote, Option<std::ops::Range<usize>>)>,
    /// Fields with positions in `quotes`.
    pub basis: Vec<(String, Vec<usize>, Confidence)>,
    pub problems: Vec<Problem>,
}
