//! The client against a mock server.
#![expect(clippy::unwrap_used, reason = "a test may end early")]

mod answers;
mod documents;
mod mock_server;
mod research;
mod retries;
mod samples;
mod uploads;
