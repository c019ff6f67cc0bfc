#![doc = include_str!("../README.md")]

mod embedder;
mod encoder;
mod folder;
mod model;
mod options;
mod static_vectors;
mod tokens;
mod weights;
mod workers;

pub use embedder::LocalEmbedder;
pub use folder::LoadError;
pub use options::LocalEmbedderOptions;
