//! The program under test.

use crate::{interrupt, shell};
use anyhow::bail;
use std::path::PathBuf;

/// Builds the server and names its program.
///
/// # Errors
///
/// When it does not build.
pub fn build(release: bool) -> anyhow::Result<PathBuf> {
    let mut build = shell::cargo();
    build.args(["build", "--package", "retrieval-server", "--bin", "retrieval-server"]);
    build.args(release.then_some("--release"));
    if !interrupt::status(&mut build)?.success() {
        bail!("the server does not build");
    }
    Ok(shell::target_folder()?.join(if release { "release" } else { "debug" }).join("retrieval-server"))
}
