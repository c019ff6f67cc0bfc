//! Use of a SQLite database by servers and commands: no program changes the tables under a running older server.
//!
//! Every server holds a shared lock on a file beside the database, and only the exclusive lock allows migrations. The system
//! releases the locks of a process that ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use docstore::{Docstore, StoreError};
use tokio::time::Instant;

use crate::files;

/// Time to wait for a process that migrates the database.
const MIGRATION_TIMEOUT: Duration = Duration::from_secs(60);
/// Time to wait for commands that only look at the database before a running server is assumed.
const READERS_TIMEOUT: Duration = Duration::from_secs(5);
const RETRY: Duration = Duration::from_millis(50);

/// Ending of the name of the lock file.
pub const LOCK_SUFFIX: &str = ".lock";

/// Lock on the database: shared by running servers, exclusive for a restore.
pub struct DatabaseUse {
    _lock: File,
}

/// Migrates the database if needed, and returns the lock and the number of migrations.
///
/// # Errors
/// Tables are outdated, and a server runs that needs them as they are.
pub async fn migrate(store: &Docstore, database: &Path) -> anyhow::Result<(DatabaseUse, usize)> {
    let path = lock_path(database);
    let started = Instant::now();
    let mut ran = 0;
    loop {
        if let Some(lock) = try_lock(&path, File::try_lock_shared)? {
            match store.check_migrated().await {
                Ok(()) => return Ok((DatabaseUse { _lock: lock }, ran)),
                Err(StoreError::NotMigrated { .. }) => {}
                Err(error) => return Err(error.into()),
            }
            drop(lock);
            if let Some(_exclusive) = try_lock(&path, File::try_lock)? {
                ran += store.migrate().await?;
                continue;
            }
            if started.elapsed() > READERS_TIMEOUT {
                bail!(
                    "the database `{}` needs migrations, but a server of an older version uses it: stop that server first",
                    database.display()
                );
            }
        } else if started.elapsed() > MIGRATION_TIMEOUT {
            bail!("another process has been migrating or restoring the database `{}` for too long", database.display());
        }
        tokio::time::sleep(RETRY).await;
    }
}

/// Returns true if a server uses the database.
pub fn is_used(database: &Path) -> anyhow::Result<bool> {
    Ok(try_lock(&lock_path(database), File::try_lock)?.is_none())
}

/// Takes the lock for a command that creates the database: until it is released, no server starts on it. `None` if its
/// folder does not exist.
///
/// # Errors
/// Another process uses the database.
pub fn exclusive(database: &Path) -> anyhow::Result<Option<DatabaseUse>> {
    if !files::parent(database).is_dir() {
        return Ok(None);
    }
    match try_lock(&lock_path(database), File::try_lock)? {
        Some(lock) => Ok(Some(DatabaseUse { _lock: lock })),
        None => bail!("another process uses the database `{}`: stop it first", database.display()),
    }
}

fn lock_path(database: &Path) -> PathBuf {
    with_suffix(database, LOCK_SUFFIX)
}

/// Appends to the name of a file.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Takes a lock. Returns `None` while another process holds one that excludes it.
pub fn try_lock(path: &Path, lock: fn(&File) -> Result<(), TryLockError>) -> anyhow::Result<Option<File>> {
    let failed = || format!("locking `{}`", path.display());
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path).with_context(failed)?;
    match lock(&file) {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error).with_context(failed),
    }
}
