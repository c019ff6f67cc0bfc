//! Users' programs against a live server: the command line client and the installer of the skills. The scenarios are
//! tests of the server crate.

use super::Outcome;
use crate::interrupt;
use crate::server::{self, Tests};
use crate::services::{Postgres, Services};
use std::path::Path;

/// Runs the scenarios.
///
/// # Errors
///
/// Returns an error if a program does not build.
pub fn run(server: &Path, tests: &Tests, release: bool) -> anyhow::Result<Outcome> {
    let program = server::build_client(release)?;
    let services = Services::start(vec![Box::new(Postgres { disabled: false })]);
    let mut scenarios = tests.command(server, ["cli::", "installer::"]);
    scenarios.envs(services.environment());
    Ok(Outcome::of(interrupt::status(scenarios.arg("--quiet").env("RETRIEVAL_BIN", program))?))
}
