//! The adapter against a real server, which the environment names: `ACCEPT_INDEX_URL`, and `ACCEPT_INDEX_KEY` where it
//! has keys. Without one nothing here can be tested, and the summary of `cargo xtask test` says so.

mod away;
mod conformance;
mod lifecycle;
mod support;
