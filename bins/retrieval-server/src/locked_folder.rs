//! Folders that belong to one process: a lock tells those in use from those of processes that have ended.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Folder that is locked until it is dropped, which does not remove it.
pub struct LockedFolder {
    pub path: PathBuf,
    /// `None` where the file system has no locks: such a folder is never taken for an abandoned one.
    _lock: Option<File>,
}

impl LockedFolder {
    /// Creates a folder in `parent`, for its owner only. Its name begins with `prefix` and is random.
    ///
    /// # Errors
    /// The file system.
    pub fn create(parent: &Path, prefix: &str) -> io::Result<Self> {
        loop {
            let path = parent.join(format!("{prefix}{:016x}", rand::random::<u64>()));
            DirBuilder::new().mode(0o700).create(&path)?;
            let lock = match File::open(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened?,
            };
            match lock.try_lock() {
                Ok(()) if path.is_dir() => return Ok(Self { path, _lock: Some(lock) }),
                // Between its creation and the lock, another process took it for an abandoned one.
                Ok(()) | Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(_)) => return Ok(Self { path, _lock: None }),
            }
        }
    }
}

/// Removes the folders of ended processes whose names begin with `prefix`.
///
/// # Errors
/// The file system.
pub fn remove_abandoned(parent: &Path, prefix: &str) -> io::Result<()> {
    for entry in fs::read_dir(parent)? {
        let entry = entry?;
        let is_locked_folder = entry.file_name().to_string_lossy().starts_with(prefix) && entry.file_type()?.is_dir();
        if is_locked_folder
            && let Ok(lock) = File::open(entry.path())
            && lock.try_lock().is_ok()
        {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}
