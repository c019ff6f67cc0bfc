//! Deliveries from a database to targets on loopback.
#![expect(clippy::unwrap_used, reason = "a test may end early")]
#![expect(clippy::print_stdout, reason = "a test without its interpreter is reported")]

mod deliveries;
mod examples;
mod target;
