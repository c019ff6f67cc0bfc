//! Files and folders that survive a power cut.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Makes the entry of a file or folder in its folder survive a power cut.
pub fn sync_parent(path: &Path) -> io::Result<()> {
    File::open(parent(path))?.sync_all()
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Gives everything below a folder to its owner only (files 600, folders 700) and syncs it to disk.
pub fn seal(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            seal(&path)?;
        } else {
            sync_file(&path)?;
        }
    }
    fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    File::open(folder)?.sync_all()
}

/// Gives a file to its owner only and syncs it to disk.
pub fn sync_file(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    File::open(path)?.sync_all()
}

/// A folder under construction. Removed on drop unless published.
pub struct Draft {
    pub path: PathBuf,
    target: PathBuf,
}

impl Draft {
    /// Creates a folder that becomes `target` in one step.
    ///
    /// # Errors
    /// `AlreadyExists` if the target exists and is not an empty folder.
    pub fn beside(target: &Path) -> io::Result<Self> {
        let target = std::path::absolute(target)?;
        require_empty(&target)?;
        fs::create_dir_all(parent(&target))?;
        let mut name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
        name.push(format!(".partial-{}", std::process::id()));
        Self::create(target.with_file_name(name), target)
    }

    /// Creates a folder whose content moves into `target`, which may be a mount point.
    ///
    /// # Errors
    /// `AlreadyExists` if the target exists and is not an empty folder.
    pub fn within(target: &Path) -> io::Result<Self> {
        let target = std::path::absolute(target)?;
        require_empty(&target)?;
        if !target.is_dir() {
            fs::create_dir_all(&target)?;
            fs::set_permissions(&target, Permissions::from_mode(0o700))?;
            sync_parent(&target)?;
        }
        Self::create(target.join(format!(".partial-{}", std::process::id())), target)
    }

    fn create(path: PathBuf, target: PathBuf) -> io::Result<Self> {
        fs::create_dir(&path)?;
        let draft = Self { path, target };
        fs::set_permissions(&draft.path, Permissions::from_mode(0o700))?;
        Ok(draft)
    }

    /// Syncs the folder to disk and renames it to its target.
    pub fn publish(self) -> io::Result<()> {
        seal(&self.path)?;
        fs::rename(&self.path, &self.target)?;
        sync_parent(&self.target)
    }

    /// Syncs the folder to disk and moves its entries into the target, `last` at the end.
    pub fn publish_entries(self, last: &Path) -> io::Result<()> {
        seal(&self.path)?;
        let names: Vec<_> = fs::read_dir(&self.path)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>()?;
        let (end, first): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| Path::new(name) == last);
        for name in first.into_iter().chain(end) {
            fs::rename(self.path.join(&name), self.target.join(&name))?;
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

fn require_empty(folder: &Path) -> io::Result<()> {
    match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(()),
        Ok(false) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
