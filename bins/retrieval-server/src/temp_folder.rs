//! Temporary files of a process.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::folder_permissions::TEMPORARY;
use crate::locked_folder::{LockedFolder, remove_abandoned};

/// Beginning of the names of the folders of processes.
const PREFIX: &str = "process-";

/// Folder for the temporary files of this process, removed on drop. Other processes may use the same data folder.
pub struct TempFolder(LockedFolder);

impl TempFolder {
    /// Creates the folder in the data folder, and removes what killed processes left there.
    ///
    /// # Errors
    /// The file system.
    pub fn create(data_dir: &Path) -> anyhow::Result<Self> {
        let parent = data_dir.join(TEMPORARY);
        let create = || {
            fs::create_dir_all(&parent)?;
            remove_abandoned(&parent, PREFIX)?;
            LockedFolder::create(&parent, PREFIX)
        };
        create().map(Self).with_context(|| format!("creating a folder in `{}`", parent.display()))
    }

    pub fn path(&self) -> PathBuf {
        self.0.path.clone()
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        // The next start removes what is left.
        let _ = fs::remove_dir_all(&self.0.path);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn only_files_of_ended_processes_are_removed() {
        let data = tempfile::tempdir().unwrap();
        let abandoned = data.path().join(TEMPORARY).join("process-1");
        fs::create_dir_all(&abandoned).unwrap();
        fs::write(abandoned.join("x.part"), "x").unwrap();
        let first = TempFolder::create(data.path()).unwrap();
        let used = first.path().join("y.part");
        fs::write(&used, "y").unwrap();
        let second = TempFolder::create(data.path()).unwrap();
        assert!(!abandoned.exists() && used.exists());
        assert_ne!(first.path(), second.path());
        drop((first, second));
        assert_eq!(fs::read_dir(data.path().join(TEMPORARY)).unwrap().count(), 0);
    }
}
