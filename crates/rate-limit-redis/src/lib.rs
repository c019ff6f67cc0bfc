#![doc = include_str!("../README.md")]

mod connection;
mod error;
mod limiter;
mod script;

pub use error::RedisUrlError;
pub use limiter::{OnFailure, RedisLimiter, RedisLimiterOptions};
