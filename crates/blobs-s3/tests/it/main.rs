//! The client and the embedded server, against each other and against faulty servers.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod chunked;
mod conformance;
mod cross_origin;
mod damage;
mod faults;
mod killed;
mod listener;
mod presigned;
mod protocol;
mod restart;
mod server;
mod throughput;
