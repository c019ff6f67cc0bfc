#![doc = include_str!("../README.md")]

mod error;
pub mod scoring;

pub use error::ModelError;
