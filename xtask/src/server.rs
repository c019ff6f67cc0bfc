//! Builds of the programs under test.

use crate::{interrupt, shell};
use anyhow::bail;
use std::path::PathBuf;

/// Builds the server and returns its path.
///
/// # Errors
///
/// Returns an error if the build fails.
pub fn build(release: bool) -> anyhow::Result<PathBuf> {
    program("retrieval-server", release)
}

/// Builds the command line client and returns its path.
///
/// # Errors
///
/// Returns an error if the build fails.
pub fn build_client(release: bool) -> anyhow::Result<PathBuf> {
    program("retrieval", release)
}

/// Builds the tests of the console in a browser and returns their path.
///
/// # Errors
///
/// Returns an error if the build fails.
pub fn build_browser_tests() -> anyhow::Result<PathBuf> {
    program("browser-tests", false)
}

fn program(name: &str, release: bool) -> anyhow::Result<PathBuf> {
    let mut build = shell::cargo();
    build.args(["build", "--package", name, "--bin", name]);
    build.args(release.then_some("--release"));
    if !interrupt::status(&mut build)?.success() {
        bail!("build of `{name}` failed");
    }
    Ok(shell::target_folder()?.join(if release { "release" } else { "debug" }).join(name))
}
