#![doc = include_str!("../README.md")]

mod cache;
mod claims;
mod error;
mod fetch;
mod json;
mod jwk;
mod jws;
mod tokens;

pub use cache::KeyTiming;
pub use claims::Claims;
pub use error::{Rejection, SourceError, TokenError};
pub use fetch::{FetchError, usable_keys};
pub use tokens::{AccessTokens, AccessTokensOptions};
