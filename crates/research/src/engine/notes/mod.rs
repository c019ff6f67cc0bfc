//! Kept passages: which ones, for which questions, and which words they leave open.

pub(super) mod coverage;
pub(super) mod keep;
