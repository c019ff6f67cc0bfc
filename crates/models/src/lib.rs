#![doc = include_str!("../README.md")]

mod error;
pub mod generation;
pub mod scoring;

pub use error::ModelError;
