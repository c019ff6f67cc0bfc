#![doc = include_str!("../README.md")]

pub mod embedding;
mod error;
pub mod generation;
pub mod health;
pub mod scoring;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod tokens;

pub use error::ModelError;
