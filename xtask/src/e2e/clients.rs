//! Clients from package registries, installed with pinned versions below the target folder.

use crate::{interrupt, shell};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Packages with versions, and the folder that they are installed into.
pub struct Packages {
    pub folder: &'static str,
    pub names: &'static [&'static str],
}

impl Packages {
    /// Installs the packages into a virtual environment of `python` and returns its interpreter; `None` without a
    /// registry.
    ///
    /// # Errors
    ///
    /// Returns an error if the target folder is unknown or the run was interrupted.
    pub fn python(&self, python: &OsStr) -> anyhow::Result<Option<PathBuf>> {
        let folder = self.folder()?;
        let interpreter = folder.join("bin/python");
        if !interpreter.exists() && !succeeds(Command::new(python).args(["-m", "venv"]).arg(&folder))? {
            return Ok(None);
        }
        let mut install = Command::new(&interpreter);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(self.names);
        Ok(succeeds(&mut install)?.then_some(interpreter))
    }

    /// Installs the packages for Node.js and returns their folder; `None` without Node.js or a registry.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be created or the run was interrupted.
    pub fn node(&self) -> anyhow::Result<Option<PathBuf>> {
        let folder = self.folder()?;
        std::fs::create_dir_all(&folder)?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]);
        npm.arg(&folder).args(self.names);
        Ok(succeeds(&mut npm)?.then_some(folder))
    }

    fn folder(&self) -> anyhow::Result<PathBuf> {
        Ok(shell::target_folder()?.join("clients").join(self.folder))
    }
}

/// Returns true if the command starts and succeeds.
fn succeeds(command: &mut Command) -> anyhow::Result<bool> {
    let exists =
        Command::new(command.get_program()).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if exists.is_err() {
        return Ok(false);
    }
    Ok(interrupt::status(command.stdin(Stdio::null()))?.success())
}
