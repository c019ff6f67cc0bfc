//! Tests against a real server, named by `ACCEPT_INDEX_URL` and, if it uses keys, `ACCEPT_INDEX_KEY`. Without one these
//! tests do nothing, and the summary of `cargo xtask test` reports that.

mod cache;
mod conformance;
mod lifecycle;
mod support;
mod unavailable;
