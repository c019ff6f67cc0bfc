//! Models that the tests generate.

#![expect(clippy::unwrap_used, reason = "tests")]

mod embedder;
mod encoders;
mod folders;
mod generated;
mod reference;
mod static_vectors;
