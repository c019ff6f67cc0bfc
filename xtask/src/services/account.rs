//! User account for services: PostgreSQL refuses to run as root.

use crate::shell;
use anyhow::Context;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Account created if there is no account `postgres`.
const OWN_ACCOUNT: &str = "retrieval-test";

/// Unprivileged account used instead of root.
#[derive(Clone, Copy, Debug)]
pub struct Account {
    user: u32,
    group: u32,
}

impl Account {
    /// Returns the account to use instead of root: `postgres`, or a new one. Returns `None` if we are not root.
    ///
    /// # Errors
    ///
    /// Returns an error if we are root and no account can be found or created.
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

    /// Sets this account as the user of `command`.
    pub fn run(self, command: &mut Command) {
        command.uid(self.user).gid(self.group);
    }

    /// Changes the owner of a folder to this account.
    ///
    /// # Errors
    ///
    /// Returns an error if the system rejects the change.
    pub fn own(self, folder: &Path) -> anyhow::Result<()> {
        Ok(std::os::unix::fs::chown(folder, Some(self.user), Some(self.group))?)
    }
}

/// Returns true if we run as root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Returns a folder for temporary folders that every account can reach; the default may be in root's home.
pub fn shared_temporary_folder() -> PathBuf {
    let own = std::env::temp_dir();
    let open = |folder: &Path| folder.metadata().is_ok_and(|data| data.permissions().mode() & 0o001 != 0);
    let mine = own.metadata().is_ok_and(|data| data.uid() == rustix::process::geteuid().as_raw());
    if own.ancestors().all(open) || (mine && !is_root()) { own } else { PathBuf::from("/tmp") }
}
