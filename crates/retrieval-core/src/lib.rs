//! Retrieval as pure functions over plain data. See README.md.

pub mod analysis;
pub mod statistics;
