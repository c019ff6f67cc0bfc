//! The built program against a stand-in for the service. The real service is behind it in the server's own tests.
#![expect(clippy::unwrap_used, reason = "a test may end early")]

mod answers;
mod errors;
mod files;
mod login;
mod mcp;
mod on_a_terminal;
mod program;
#[expect(dead_code, reason = "the client's own tests use all of it")]
#[path = "../../../../crates/retrieval-client/tests/it/stand_in.rs"]
mod stand_in;
