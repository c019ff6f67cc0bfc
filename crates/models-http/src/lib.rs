#![doc = include_str!("../README.md")]

mod cooldown;
mod embedding;
mod endpoint;
mod generation;
mod late_calls;
mod lengths;
mod retries;
mod scoring;

pub use embedding::{HttpEmbedder, HttpEmbedderOptions};
pub use generation::{HttpGenerator, HttpGeneratorOptions};
pub use scoring::{HttpReranker, HttpRerankerOptions};
