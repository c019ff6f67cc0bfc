//! Users' programs against a live server: the command line client and the installer of the skills. The scenarios are
//! tests of the server crate.

use super::Outcome;
use crate::{interrupt, server, shell};
use std::path::Path;

/// Runs the scenarios.
///
/// # Errors
///
/// Returns an error if a program does not build.
pub fn run(server: &Path, release: bool) -> anyhow::Result<Outcome> {
    let program = server::build_client(release)?;
    let mut tests = shell::cargo();
    tests.args(["test", "--quiet", "--package", "retrieval-server", "--test", "it", "--", "cli::", "installer::"]);
    tests.env("RETRIEVAL_SERVER_BIN", server).env("RETRIEVAL_BIN", program);
    Ok(Outcome::of(interrupt::status(&mut tests)?))
}
