//! Small helpers around cargo and other programs.

use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository's root: the folder above this crate.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// A cargo command at the repository's root, of the toolchain that runs us.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    // Set by `cargo run` for this crate; a nested build that saw it would take it for its own.
    for inherited in ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_PKG_NAME", "CARGO_PKG_VERSION"] {
        command.env_remove(inherited);
    }
    command
}

/// A git command at the repository's root, whoever owns it: in CI that is often somebody else.
pub fn git() -> Command {
    let mut command = Command::new("git");
    command.arg("-c").arg(format!("safe.directory={}", root().display())).current_dir(root());
    command
}

/// The folder that cargo builds into.
pub fn target_folder() -> anyhow::Result<PathBuf> {
    let metadata = cargo_metadata::MetadataCommand::new().current_dir(root()).no_deps().exec()?;
    Ok(metadata.target_directory.into_std_path_buf())
}

/// Runs `command` to its end.
///
/// # Errors
///
/// When it cannot be started, or ends with another status than 0.
pub fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("cannot start `{}`", text(command)))?;
    if !status.success() {
        bail!("`{}` ended with {status}", text(command));
    }
    Ok(())
}

/// Runs `command` to its end and gives its standard output, trimmed.
///
/// # Errors
///
/// When it cannot be started, or ends with another status than 0; its standard error is part of the message.
pub fn output(command: &mut Command) -> anyhow::Result<String> {
    let done = command.output().with_context(|| format!("cannot start `{}`", text(command)))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        bail!("`{}` ended with {}: {}", text(command), done.status, said.trim());
    }
    Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
}

/// The first file called `name` in the folders of `PATH`.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn text(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
