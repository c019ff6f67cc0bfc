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

/// Readings of the store for one page of files: they may be replaced while they are copied.
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
        let root = self.root.clone();
        let missing = self.add_page(files, &mut || Snapshot::read(&root))?;
        Ok((self, missing))
    }

    /// Copies the objects of these files. The store is read again at once for all whose object is not there.
    fn add_page(
        &mut self,
        files: Vec<File>,
        read: &mut dyn FnMut() -> io::Result<Snapshot>,
    ) -> anyhow::Result<Vec<Missing>> {
        let mut missing = Vec::new();
        let mut without_object = Vec::new();
        let mut left = files;
        for _ in 0..ATTEMPTS {
            left = self.copy_objects(left, &mut missing)?;
            if left.is_empty() {
                break;
            }
            // Replaced or deleted since the last reading, or uploaded later.
            self.snapshot = read().with_context(|| format!("reading the objects of `{}`", self.root.display()))?;
            let (present, absent): (Vec<File>, Vec<File>) =
                left.into_iter().partition(|file| self.snapshot.get(&file.object_key).is_some());
            without_object.extend(absent);
            left = present;
        }
        // Others were announced and not uploaded.
        let expected = without_object.into_iter().chain(left).filter(|file| file.outcome.is_some());
        missing.extend(expected.map(|file| Missing { file, damage: None }));
        Ok(missing)
    }

    /// Copies what the last reading has. Returns the files without an object, except for deleted ones, and adds damaged ones to
    /// `missing`.
    fn copy_objects(&mut self, files: Vec<File>, missing: &mut Vec<Missing>) -> anyhow::Result<Vec<File>> {
        let mut left = Vec::new();
        for file in files {
            match self.copy_object(&file) {
                Ok(true) => {}
                // Deleted: no later reading changes that.
                Ok(false) if file.withdrawn_at.is_some() => {}
                Ok(false) => left.push(file),
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    missing.push(Missing { file, damage: Some(error.to_string()) });
                }
                Err(error) => return Err(error).with_context(|| format!("copying the object `{}`", file.object_key)),
            }
        }
        Ok(left)
    }

    /// Returns false if the file has no object.
    fn copy_object(&mut self, file: &File) -> io::Result<bool> {
        let Some(object) = self.snapshot.get(&file.object_key) else { return Ok(false) };
        if file.is_withdrawn(Timestamp::from_millis(object.modified_ms), &object.etag) {
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

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use model::{DocId, FileOutcome, OrganizationId};
    use uuid::Uuid;

    use super::*;

    fn file(number: usize) -> File {
        File {
            outcome: number.is_multiple_of(2).then_some(FileOutcome::Indexed),
            ..File::registered(
                format!("files/{number}"),
                OrganizationId(Uuid::nil()),
                format!("{number}.txt"),
                DocId(Uuid::nil()),
                Timestamp::from_millis(0),
            )
        }
    }

    /// Returns the number of missing objects, and how often the store was read for them.
    fn add(files: Vec<File>) -> (usize, usize) {
        let (root, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut copy = ObjectCopy::create(root.path(), folder.path()).unwrap();
        let mut readings = 0;
        let mut read = || {
            readings += 1;
            Snapshot::read(root.path())
        };
        let missing = copy.add_page(files, &mut read).unwrap();
        (missing.len(), readings)
    }

    #[test]
    fn store_is_read_once_for_a_page_of_files_without_objects() {
        assert_eq!(add((0..1_000).map(file).collect()), (500, 1));
        let withdrawn = |number| File { withdrawn_at: Some(Timestamp::from_millis(1)), ..file(number) };
        assert_eq!(add((0..1_000).map(withdrawn).collect()), (0, 0));
        assert_eq!(add(Vec::new()), (0, 0));
    }
}
