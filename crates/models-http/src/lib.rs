#![doc = include_str!("../README.md")]

mod cooldown;
mod endpoint;
mod generation;
mod scoring;

pub use generation::{HttpGenerator, HttpGeneratorOptions};
pub use scoring::{HttpReranker, HttpRerankerOptions};
