#![doc = include_str!("../README.md")]

mod error;
mod limiter;
mod line;
mod script;

pub use error::RedisUrlError;
pub use limiter::{OnFailure, RedisLimiter, RedisLimiterOptions};
