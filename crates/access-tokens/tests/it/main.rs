//! Tokens signed by test keys, and an issuer on loopback that publishes the keys.
#![expect(clippy::unwrap_used, reason = "tests")]

mod claims;
mod forgeries;
mod issuer;
mod keys;
mod published;
mod signing;
