//! Installing what tests need, where that is ours to do: as root, with apt.

use super::account::is_root;
use crate::shell;
use anyhow::{Context, bail};
use std::process::{Command, Stdio};

/// Installs `package`. `wanted` says what was looked for in vain, `variable` what names a service that runs elsewhere.
///
/// # Errors
///
/// When it is not ours to do, or fails.
pub fn install(package: &str, wanted: &str, variable: &str) -> anyhow::Result<()> {
    if !is_root() || shell::find_program("apt-get").is_none() {
        bail!("{wanted}; install it (Debian, Ubuntu: `apt-get install {package}`) or set {variable}");
    }
    eprintln!("{wanted}: installing it with apt-get");
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        shell::run(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null()))
    };
    apt(&["update", "-qq"])
        .and_then(|()| apt(&["install", "-y", "-qq", "--no-install-recommends", package]))
        .with_context(|| format!("{wanted}, and it could not be installed"))
}
