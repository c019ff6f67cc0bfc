//! The programs under test.

use crate::{interrupt, shell};
use anyhow::bail;
use std::path::PathBuf;

/// Builds the server and names its program.
///
/// # Errors
///
/// When it does not build.
pub fn build(release: bool) -> anyhow::Result<PathBuf> {
    program("retrieval-server", release)
}

/// Builds the command line of the service's users and names its program.
///
/// # Errors
///
/// When it does not build.
pub fn build_client(release: bool) -> anyhow::Result<PathBuf> {
    program("retrieval", release)
}

fn program(name: &str, release: bool) -> anyhow::Result<PathBuf> {
    let mut build = shell::cargo();
    build.args(["build", "--package", name, "--bin", name]);
    build.args(release.then_some("--release"));
    if !interrupt::status(&mut build)?.success() {
        bail!("`{name}` does not build");
    }
    Ok(shell::target_folder()?.join(if release { "release" } else { "debug" }).join(name))
}
