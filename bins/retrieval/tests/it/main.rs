//! Tests of the built program against a fake service. The tests of the server use the real one.
#![expect(clippy::unwrap_used, reason = "a test may end early")]

mod errors;
mod files;
mod keys;
mod login;
mod mcp;
#[expect(dead_code, reason = "the client's own tests use all of it")]
#[path = "../../../../crates/retrieval-client/tests/it/mock_server.rs"]
mod mock_server;
mod output;
mod program;
mod research;
mod stored_files;
mod terminal;
mod unreachable;
