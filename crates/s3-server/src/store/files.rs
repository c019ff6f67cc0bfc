//! File layout on disk.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::ObjectId;

#[derive(Clone)]
pub(super) struct Files {
    root: PathBuf,
}

impl Files {
    /// Returns the files of a folder that is only read.
    pub fn of(root: PathBuf) -> Self {
        Self { root }
    }

    pub fn open(root: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(root.join("incoming"))?;
        fs::create_dir_all(root.join("objects"))?;
        Ok(Self { root })
    }

    /// Locks the folder for this process.
    ///
    /// # Errors
    /// `WouldBlock` if another process holds the lock.
    pub fn lock(&self) -> io::Result<File> {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(self.root.join("lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    pub fn journal(&self) -> PathBuf {
        self.root.join("journal")
    }

    pub fn incoming(&self, id: ObjectId) -> PathBuf {
        self.root.join(format!("incoming/{id:016x}"))
    }

    fn object(&self, id: ObjectId) -> PathBuf {
        self.root.join(object_path(id))
    }

    /// Makes the entries of the folder itself survive a power cut: journal, `incoming`, `objects`.
    pub fn sync_root(&self) -> io::Result<()> {
        sync_folder(&self.root)?;
        self.root.parent().filter(|parent| !parent.as_os_str().is_empty()).map_or(Ok(()), sync_folder)
    }

    pub fn open_object(&self, id: ObjectId) -> io::Result<File> {
        match File::open(self.object(id)) {
            // The journal contains the put, but the move failed, for example on a full disk. The next start repeats it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => File::open(self.incoming(id)),
            result => result,
        }
    }

    /// Moves a complete file from `incoming` to its final path. A failure is logged: the object is read from where its file
    /// is, and the next start repeats the move.
    pub fn publish(&self, id: ObjectId) {
        let (from, to) = (self.incoming(id), self.object(id));
        let moved = match fs::rename(&from, &to) {
            // Folders are created on first use: creating all 256 would slow down the first start.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(to.parent().unwrap_or(&self.root)).and_then(|()| fs::rename(&from, &to))
            }
            result => result,
        };
        if let Err(error) = moved {
            tracing::warn!(path = %from.display(), %error, "cannot move object store file");
        }
    }

    /// Makes the directory entries of `incoming` survive a power cut.
    pub fn sync_incoming(&self) -> io::Result<()> {
        sync_folder(&self.root.join("incoming"))
    }

    /// Removes the file of an object, which is still in `incoming` if it could not be moved.
    pub fn remove_object(&self, id: ObjectId) {
        if !remove(&self.object(id)) {
            remove(&self.incoming(id));
        }
    }

    /// Removes files of replaced and deleted objects that a crash between journal and removal left behind. Ids are
    /// never reused, so this cannot affect live objects and need not delay the start.
    pub fn remove_in_background(&self, ids: Vec<ObjectId>) {
        if ids.is_empty() {
            return;
        }
        let files = self.clone();
        std::thread::spawn(move || ids.into_iter().for_each(|id| files.remove_object(id)));
    }

    /// Publishes incoming files that the journal contains, and removes the others.
    pub fn recover_incoming(&self, is_live: impl Fn(ObjectId) -> bool) -> io::Result<()> {
        for entry in fs::read_dir(self.root.join("incoming"))? {
            let name = entry?.file_name();
            let Some(name) = name.to_str() else { continue };
            let Ok(id) = ObjectId::from_str_radix(name, 16) else { continue };
            if is_live(id) {
                self.publish(id);
            } else {
                remove(&self.incoming(id));
            }
        }
        Ok(())
    }
}

/// Returns the path of an object's content below the root.
pub(super) fn object_path(id: ObjectId) -> PathBuf {
    PathBuf::from(format!("objects/{:02x}/{id:016x}", id & 0xff))
}

/// Removes an unreferenced file. Returns false if it does not exist. A failure is logged and does not fail the request.
pub(super) fn remove(path: &Path) -> bool {
    match fs::remove_file(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return false,
        Err(error) => tracing::warn!(path = %path.display(), %error, "cannot remove object store file"),
    }
    true
}

#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// No-op: other systems cannot open a folder as a file, and the file system orders its own writes.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
