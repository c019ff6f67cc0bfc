#![doc = include_str!("../README.md")]

mod cooldown;
mod scoring;

pub use scoring::{HttpReranker, HttpRerankerOptions};
