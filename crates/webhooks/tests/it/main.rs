//! Deliveries from a database to targets on loopback.
#![expect(clippy::unwrap_used, reason = "a test may end early")]

mod deliveries;
mod target;
