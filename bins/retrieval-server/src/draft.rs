//! Folders under construction, which appear at their final path once they are complete.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf, absolute};

use crate::files;
use crate::locked_folder::{LockedFolder, remove_abandoned};

/// Beginning of the names of drafts. A process that is killed leaves its draft behind.
pub const PREFIX: &str = ".retrieval-partial-";

/// A folder under construction. Removed on drop unless published.
pub struct Draft {
    pub path: PathBuf,
    target: PathBuf,
    /// Entries of an existing target that do not count.
    tolerated: Vec<String>,
    /// Tells drafts that are in use from those of killed processes.
    _locked: LockedFolder,
}

impl Draft {
    /// Creates a draft of `target`: beside it, or within it if it exists, since it may be a mount point. Removes drafts that
    /// killed processes left there.
    ///
    /// # Errors
    /// `AlreadyExists` if the target has entries that are not `tolerated`.
    pub fn of(target: &Path, tolerated: &[&str]) -> io::Result<Self> {
        let target = absolute(target)?;
        let folder = if target.is_dir() {
            target.clone()
        } else {
            // Such as `..`, or a file of this name.
            target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
            if target.symlink_metadata().is_ok() {
                return Err(io::ErrorKind::NotADirectory.into());
            }
            let parent = files::parent(&target);
            files::create_folder(parent)?;
            parent.to_owned()
        };
        remove_abandoned(&folder, PREFIX)?;
        let tolerated: Vec<String> = tolerated.iter().map(|&name| name.to_owned()).collect();
        if folder == target {
            require_vacant(&target, &tolerated, None)?;
        }
        let locked = LockedFolder::create(&folder, PREFIX)?;
        Ok(Self { path: locked.path.clone(), target, tolerated, _locked: locked })
    }

    /// Syncs the draft to disk and moves it to its target: in one step if the target does not exist, otherwise entry by
    /// entry, `last` at the end. On failure the target is as it was.
    ///
    /// # Errors
    /// `AlreadyExists` or `DirectoryNotEmpty` if another process has written to the target.
    pub fn publish(self, last: &Path) -> io::Result<()> {
        files::seal(&self.path)?;
        if self.path.parent() != Some(&self.target) {
            fs::rename(&self.path, &self.target)?;
            return files::sync_parent(&self.target);
        }
        require_vacant(&self.target, &self.tolerated, Some(&self.path))?;
        let names: Vec<_> = fs::read_dir(&self.path)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>()?;
        let (end, first): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| Path::new(name) == last);
        let mut moved = Vec::new();
        for name in first.into_iter().chain(end) {
            if let Err(error) = fs::rename(self.path.join(&name), self.target.join(&name)) {
                for name in moved {
                    // Best effort: the error that led here is reported.
                    let _ = fs::rename(self.target.join(&name), self.path.join(&name));
                }
                return Err(error);
            }
            moved.push(name);
        }
        fs::remove_dir(&self.path)?;
        File::open(&self.target)?.sync_all()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // Gone after publishing; otherwise the rest of a failed command, whose error is reported already.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn require_vacant(folder: &Path, tolerated: &[String], draft: Option<&Path>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_tolerated = tolerated.iter().any(|name| entry.file_name() == name.as_str());
        if !is_tolerated && draft != Some(&entry.path()) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn draft_of_a_killed_process_is_removed_and_one_in_use_is_kept() {
        let parent = tempfile::tempdir().unwrap();
        let abandoned = parent.path().join(format!("{PREFIX}1"));
        fs::create_dir_all(abandoned.join("objects")).unwrap();
        let used = Draft::of(&parent.path().join("first"), &[]).unwrap();
        assert!(!abandoned.exists());
        let other = Draft::of(&parent.path().join("second"), &[]).unwrap();
        assert!(used.path.exists() && other.path.exists());
        drop((used, other));
        assert_eq!(names(parent.path()), [] as [&str; 0]);

        fs::create_dir_all(&abandoned).unwrap();
        let within = Draft::of(parent.path(), &[]).unwrap();
        assert!(!abandoned.exists());
        let error = Draft::of(parent.path(), &[]).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "another process restores to this folder");
        assert!(within.path.exists());
    }

    #[test]
    fn existing_folder_is_filled_and_tolerated_entries_stay() {
        let target = tempfile::tempdir().unwrap();
        fs::create_dir(target.path().join("lost+found")).unwrap();
        assert!(Draft::of(target.path(), &[]).is_err());
        let draft = Draft::of(target.path(), &["lost+found"]).unwrap();
        fs::create_dir(draft.path.join("objects")).unwrap();
        fs::write(draft.path.join("retrieval.db"), "x").unwrap();
        draft.publish(Path::new("retrieval.db")).unwrap();
        assert_eq!(names(target.path()), ["lost+found", "objects", "retrieval.db"]);
    }

    #[test]
    fn entries_that_appeared_meanwhile_are_never_replaced() {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("data");
        for exists in [false, true] {
            if exists {
                fs::create_dir(&target).unwrap();
            }
            let draft = Draft::of(&target, &[]).unwrap();
            fs::write(draft.path.join("retrieval.db"), "restored").unwrap();
            fs::create_dir_all(&target).unwrap();
            fs::write(target.join("retrieval.db"), "of a server").unwrap();
            assert!(draft.publish(Path::new("retrieval.db")).is_err(), "{exists}");
            assert_eq!(fs::read_to_string(target.join("retrieval.db")).unwrap(), "of a server");
            assert_eq!((names(&target).len(), names(parent.path()).len()), (1, 1), "{exists}");
            fs::remove_dir_all(&target).unwrap();
        }
    }
}
