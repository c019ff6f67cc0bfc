//! Tests against a real server, named by `TEST_QDRANT_URL` and, if it uses keys, `TEST_QDRANT_KEY`. Without one these tests
//! do nothing, and the summary of `cargo xtask test` reports that. The test of a cluster starts one from the program
//! `qdrant` on the PATH.

mod cluster;
mod conformance;
mod lifecycle;
mod support;
mod unavailable;
