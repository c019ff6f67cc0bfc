//! Helpers to run cargo and other programs.

use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Variables of a package other than `CARGO_PKG_*`.
const PACKAGE_VARIABLES: [&str; 4] =
    ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_LINKS", "CARGO_MANIFEST_PATH", "CARGO_PRIMARY_PACKAGE"];

/// Returns the repository root: the parent folder of this crate.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Returns a cargo command of our own toolchain, in the repository root.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    // `cargo run` sets these for this crate. A nested build would use them, and build again whatever was built without them.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") || PACKAGE_VARIABLES.iter().any(|other| name == *other) {
            command.env_remove(name);
        }
    }
    command
}

/// Returns a git command in the repository root. It accepts any owner of the folder, which often differs in CI.
pub fn git() -> Command {
    let mut command = Command::new("git");
    command.arg("-c").arg(format!("safe.directory={}", root().display())).current_dir(root());
    command
}

/// Returns cargo's target folder.
pub fn target_folder() -> anyhow::Result<PathBuf> {
    let metadata = cargo_metadata::MetadataCommand::new().current_dir(root()).no_deps().exec()?;
    Ok(metadata.target_directory.into_std_path_buf())
}

/// Runs `command` to its end.
///
/// # Errors
///
/// Returns an error if it cannot start or exits with a status other than 0.
pub fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("cannot start `{}`", text(command)))?;
    if !status.success() {
        bail!("`{}` failed with {status}", text(command));
    }
    Ok(())
}

/// Runs `command` to its end and returns its trimmed standard output.
///
/// # Errors
///
/// Returns an error if it cannot start or exits with a status other than 0; the message includes standard error.
pub fn output(command: &mut Command) -> anyhow::Result<String> {
    let done = command.output().with_context(|| format!("cannot start `{}`", text(command)))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        bail!("`{}` failed with {}: {}", text(command), done.status, said.trim());
    }
    Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
}

/// Returns the first file called `name` in the folders of `PATH`.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn text(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
