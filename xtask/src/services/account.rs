//! The account that a service runs under: PostgreSQL refuses to run as root.

use crate::shell;
use anyhow::Context;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Made where there is no account `postgres`.
const OWN_ACCOUNT: &str = "retrieval-test";

/// An unprivileged account to run under instead of root.
#[derive(Clone, Copy, Debug)]
pub struct Account {
    user: u32,
    group: u32,
}

impl Account {
    /// The account to use when we are root: `postgres`, or one made for the purpose. None when we are not root.
    ///
    /// # Errors
    ///
    /// When we are root and no account can be found or made.
    pub fn instead_of_root() -> anyhow::Result<Option<Self>> {
        if !is_root() {
            return Ok(None);
        }
        if let Ok(account) = Self::named("postgres").or_else(|_| Self::named(OWN_ACCOUNT)) {
            return Ok(Some(account));
        }
        let mut useradd = Command::new("useradd");
        useradd.args(["--system", "--no-create-home", "--shell", "/usr/sbin/nologin", OWN_ACCOUNT]);
        shell::run(&mut useradd).context("no account to run PostgreSQL under: it refuses to run as root")?;
        Self::named(OWN_ACCOUNT).map(Some)
    }

    fn named(name: &str) -> anyhow::Result<Self> {
        let id = |flag| anyhow::Ok(shell::output(Command::new("id").args([flag, name]))?.parse()?);
        Ok(Self { user: id("-u")?, group: id("-g")? })
    }

    /// Lets `command` run under this account.
    pub fn run(self, command: &mut Command) {
        command.uid(self.user).gid(self.group);
    }

    /// Hands a folder to this account.
    ///
    /// # Errors
    ///
    /// When the system refuses it.
    pub fn own(self, folder: &Path) -> anyhow::Result<()> {
        Ok(std::os::unix::fs::chown(folder, Some(self.user), Some(self.group))?)
    }
}

/// Returns true for root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A folder for temporary folders that every account can reach: the system's own may lie in root's home.
pub fn shared_temporary_folder() -> PathBuf {
    let own = std::env::temp_dir();
    let open = |folder: &Path| folder.metadata().is_ok_and(|data| data.permissions().mode() & 0o001 != 0);
    let mine = own.metadata().is_ok_and(|data| data.uid() == rustix::process::geteuid().as_raw());
    if own.ancestors().all(open) || (mine && !is_root()) { own } else { PathBuf::from("/tmp") }
}
