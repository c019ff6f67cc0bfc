//! Tokens signed here, and an issuer on loopback that publishes the keys.
#![expect(clippy::unwrap_used, reason = "a test may end early")]

mod claims;
mod forgeries;
mod issuer;
mod keys;
mod published;
mod signing;
