#![doc = include_str!("../README.md")]

pub mod embedding;
mod error;
pub mod generation;
pub mod scoring;

pub use error::ModelError;
