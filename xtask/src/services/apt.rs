//! Installation of test services with apt, if we are root.

use super::account::is_root;
use crate::shell;
use anyhow::{Context, bail};
use std::process::{Command, Stdio};

/// Installs `package`. `wanted` describes the missing program; `variable` names the alternative, a service elsewhere.
///
/// # Errors
///
/// Returns an error without root or apt, or if the installation fails.
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
        .with_context(|| format!("{wanted}; the installation failed"))
}
