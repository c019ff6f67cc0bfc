//! The client against a server that misbehaves on purpose.
#![expect(clippy::unwrap_used, reason = "a test may end early")]

mod answers;
mod attempts;
mod documents;
mod samples;
mod stand_in;
mod uploads;
