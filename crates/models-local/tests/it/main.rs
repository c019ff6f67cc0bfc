//! Models that the tests generate.

mod embedder;
mod encoders;
mod folders;
mod generated;
mod reference;
mod static_vectors;
