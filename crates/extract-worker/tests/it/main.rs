//! The worker pool against real processes.
#![allow(clippy::expect_used, clippy::unwrap_used)]

#[path = "../../../extract/tests/it/files.rs"]
#[expect(dead_code, reason = "some samples are for the readers' own tests")]
mod files;
#[cfg(target_os = "linux")]
mod lacking;
#[cfg(target_os = "linux")]
mod sandbox;
mod shares;
mod worker;
