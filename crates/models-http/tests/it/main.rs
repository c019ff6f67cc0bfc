//! The adapters against endpoints on loopback.

mod embedding;
mod generation;
mod scoring;
