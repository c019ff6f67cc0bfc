//! Where contents lie on the disk.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::ObjectId;

#[derive(Clone)]
pub(super) struct Files {
    root: PathBuf,
}

impl Files {
    pub fn open(root: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(root.join("incoming"))?;
        fs::create_dir_all(root.join("objects"))?;
        Ok(Self { root })
    }

    /// # Errors
    /// `WouldBlock` when another process holds it.
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
        self.root.join(format!("objects/{:02x}/{id:016x}", id & 0xff))
    }

    pub fn open_object(&self, id: ObjectId) -> io::Result<File> {
        match File::open(self.object(id)) {
            // The journal counted the put, but the move failed (a full disk, say): the next start repeats it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => File::open(self.incoming(id)),
            result => result,
        }
    }

    /// Moves a complete file to its place.
    pub fn admit(&self, id: ObjectId) -> io::Result<()> {
        let (from, to) = (self.incoming(id), self.object(id));
        match fs::rename(&from, &to) {
            // The folders are made one by one when first needed: making all 256 would slow the first start.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(to.parent().unwrap_or(&self.root))?;
                fs::rename(from, to)
            }
            result => result,
        }
    }

    /// Makes the name of a new file in `incoming` survive a power cut.
    pub fn sync_incoming(&self) -> io::Result<()> {
        sync_folder(&self.root.join("incoming"))
    }

    pub fn remove_object(&self, id: ObjectId) {
        remove(&self.object(id));
    }

    /// Removes what replaced and deleted objects may have left when a crash came between the journal and the removal.
    /// Ids are never used twice, so it cannot hit a living object, and need not hold up the start.
    pub fn remove_in_background(&self, ids: Vec<ObjectId>) {
        if ids.is_empty() {
            return;
        }
        let files = self.clone();
        std::thread::spawn(move || ids.into_iter().for_each(|id| files.remove_object(id)));
    }

    /// Finishes the puts that the journal knows, and removes the rest.
    pub fn recover_incoming(&self, is_living: impl Fn(ObjectId) -> bool) -> io::Result<()> {
        for entry in fs::read_dir(self.root.join("incoming"))? {
            let name = entry?.file_name();
            let Some(name) = name.to_str() else { continue };
            let Ok(id) = ObjectId::from_str_radix(name, 16) else { continue };
            if is_living(id) { self.admit(id)? } else { remove(&self.incoming(id)) }
        }
        Ok(())
    }
}

/// Removes a file that nothing names any more. That it stays behind is worth a word in the log, not a failed request.
pub(super) fn remove(path: &Path) {
    match fs::remove_file(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => tracing::warn!(path = %path.display(), %error, "cannot remove a file of the object store"),
    }
}

#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Elsewhere a folder cannot be opened as a file; the file system keeps its own order.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
