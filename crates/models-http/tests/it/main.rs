//! The adapters against endpoints on loopback.

mod generation;
mod scoring;
