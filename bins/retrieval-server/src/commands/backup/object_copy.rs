//! Copy of the object store's files that the copy of the database names.

use std::fs::File as DiskFile;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use docstore::File;
use model::Timestamp;
use s3_server::{FolderCopy, Snapshot};
use sha2::{Digest, Sha256};

use crate::archive::{self, Part};

/// Readings of the store for one file: it may be replaced while it is copied.
const ATTEMPTS: usize = 5;

/// A file whose object could not be copied.
pub struct Missing {
    pub file: File,
    /// Damage of the object; `None` if it does not exist.
    pub damage: Option<String>,
}

pub struct ObjectCopy {
    root: PathBuf,
    snapshot: Snapshot,
    folder: PathBuf,
    copy: FolderCopy,
    list: BufWriter<DiskFile>,
    count: u64,
    bytes: u64,
}

impl ObjectCopy {
    /// Reads the store at `root`. The copies go below `folder`.
    pub fn create(root: &Path, folder: &Path) -> anyhow::Result<Self> {
        let snapshot = Snapshot::read(root).with_context(|| format!("reading the objects of `{}`", root.display()))?;
        Ok(Self {
            root: root.to_owned(),
            snapshot,
            folder: folder.to_owned(),
            copy: FolderCopy::create(folder.join(archive::OBJECTS))?,
            list: BufWriter::new(DiskFile::create(folder.join(archive::OBJECT_LIST))?),
            count: 0,
            bytes: 0,
        })
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// Copies the objects of these files. Returns the copy, and the files that should have an object and have none.
    pub fn add(mut self, files: Vec<File>) -> anyhow::Result<(Self, Vec<Missing>)> {
        let mut missing = Vec::new();
        for file in files {
            match self.add_file(&file) {
                Ok(true) => {}
                Ok(false) if file.withdrawn_at.is_none() && file.outcome.is_some() => {
                    missing.push(Missing { file, damage: None });
                }
                // Deleted, or announced and not uploaded.
                Ok(false) => {}
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    missing.push(Missing { file, damage: Some(error.to_string()) });
                }
                Err(error) => return Err(error).with_context(|| format!("copying the object `{}`", file.object_key)),
            }
        }
        Ok((self, missing))
    }

    /// Returns false if the file has no object.
    fn add_file(&mut self, file: &File) -> io::Result<bool> {
        for _ in 0..ATTEMPTS {
            if self.copy_object(file)? {
                return Ok(true);
            }
            // Replaced or deleted since the last reading, or uploaded later.
            self.snapshot = Snapshot::read(&self.root)?;
            if self.snapshot.get(&file.object_key).is_none() {
                break;
            }
        }
        Ok(false)
    }

    fn copy_object(&mut self, file: &File) -> io::Result<bool> {
        let Some(object) = self.snapshot.get(&file.object_key) else { return Ok(false) };
        if file.is_withdrawn(Timestamp::from_millis(object.modified_ms)) {
            return Ok(false);
        }
        let mut hash = Sha256::new();
        let mut observe = |bytes: &[u8]| hash.update(bytes);
        let Some(copied) = self.copy.add(&self.snapshot, &file.object_key, &mut observe)? else { return Ok(false) };
        let path = Path::new(archive::OBJECTS).join(copied.path);
        let part = Part {
            path: path.to_string_lossy().into_owned(),
            bytes: copied.size,
            sha256: hex::encode(hash.finalize()),
        };
        serde_json::to_writer(&mut self.list, &part)?;
        self.list.write_all(b"\n")?;
        self.count += 1;
        self.bytes += copied.size;
        Ok(true)
    }

    /// Completes the copy. Returns the number of objects, their bytes, and the files that describe them.
    pub fn finish(mut self) -> anyhow::Result<(u64, u64, [Part; 2])> {
        self.list.flush()?;
        let journal = Path::new(archive::OBJECTS).join(self.copy.finish()?);
        let parts =
            [Part::of(&self.folder, archive::OBJECT_LIST)?, Part::of(&self.folder, &journal.to_string_lossy())?];
        Ok((self.count, self.bytes, parts))
    }
}
