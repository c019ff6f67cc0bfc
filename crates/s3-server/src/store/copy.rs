//! Reading a folder that another process may be changing, and copying objects to a new folder.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use md5::{Digest, Md5};

use super::files::{Files, object_path};
use super::journal::Journal;
use super::record::Record;
use super::{Entry, ObjectId};

const BUFFER: usize = 1 << 18;
/// Error number of a disk that cannot read a sector.
const EIO: i32 = 5;

/// Objects of a folder at one time. The content of an object never changes; it may be removed.
pub struct Snapshot {
    files: Files,
    objects: BTreeMap<Box<str>, Entry>,
}

/// Description of an object.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ObjectInfo {
    /// Size in bytes.
    pub size: u64,
    /// MD5 of the content in hexadecimal digits, without quotes.
    pub etag: String,
    /// Modification time in Unix milliseconds.
    pub modified_ms: i64,
}

impl Snapshot {
    /// Reads the journal of a folder. A missing folder has no objects.
    ///
    /// # Errors
    /// `InvalidData` for a journal of another version.
    pub fn read(root: &Path) -> io::Result<Self> {
        let files = Files::of(root.to_owned());
        let mut objects = BTreeMap::new();
        Journal::read(&files.journal(), |record| match record {
            Record::Put { key, entry, .. } => {
                objects.insert(key.into_boxed_str(), entry);
            }
            Record::Delete { key } => {
                objects.remove(key.as_str());
            }
            Record::Used(_) | Record::NextId(_) => {}
        })?;
        Ok(Self { files, objects })
    }

    /// Returns the keys of all objects, in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.objects.keys().map(AsRef::as_ref)
    }

    pub fn get(&self, key: &str) -> Option<ObjectInfo> {
        let Entry { size, md5, modified_ms, .. } = self.objects.get(key)?;
        Some(ObjectInfo { size: *size, etag: hex::encode(md5), modified_ms: *modified_ms })
    }

    /// Reads the whole object into `sink`. Returns false if it does not exist or has been removed since.
    ///
    /// # Errors
    /// `InvalidData` if the disk cannot read the content, or it does not have the size and the MD5 of the journal; other errors of the
    /// file, and those of `sink`.
    pub fn copy(&self, key: &str, sink: &mut dyn Write) -> io::Result<bool> {
        let Some(entry) = self.objects.get(key) else { return Ok(false) };
        let mut file = match self.files.open_object(entry.id) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(read_error(key, error)),
        };
        let (mut buffer, mut md5, mut size) = (vec![0; BUFFER], Md5::new(), 0);
        loop {
            let length = file.read(&mut buffer).map_err(|error| read_error(key, error))?;
            if length == 0 {
                break;
            }
            md5.update(&buffer[..length]);
            size += length as u64;
            sink.write_all(&buffer[..length])?;
        }
        let digest: [u8; 16] = md5.finalize().into();
        if (size, digest) != (entry.size, entry.md5) {
            let message = format!("the content of `{key}` has {size} bytes and MD5 {}", hex::encode(digest));
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(true)
    }
}

/// Returns the error of reading an object's file: damage of this object alone if the disk cannot read it.
fn read_error(key: &str, error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(EIO) => {
            io::Error::new(io::ErrorKind::InvalidData, format!("the content of `{key}` cannot be read: {error}"))
        }
        _ => error,
    }
}

/// A copied object.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Copied {
    /// Path of the content below the new root.
    pub path: PathBuf,
    pub size: u64,
}

/// A new folder with copies of objects. It is complete once [`finish`](Self::finish) returns; nothing is synced to disk.
pub struct FolderCopy {
    root: PathBuf,
    records: Vec<Record>,
    next_id: ObjectId,
}

impl FolderCopy {
    pub fn create(root: PathBuf) -> io::Result<Self> {
        fs::create_dir(&root)?;
        Ok(Self { root, records: Vec::new(), next_id: 1 })
    }

    /// Copies an object and passes its content to `observe`. Returns `None` if it does not exist or has been removed since.
    ///
    /// # Errors
    /// As [`Snapshot::copy`]. The folder then lacks the object.
    pub fn add(
        &mut self,
        snapshot: &Snapshot,
        key: &str,
        observe: &mut dyn FnMut(&[u8]),
    ) -> io::Result<Option<Copied>> {
        let Some(entry) = snapshot.objects.get(key).copied() else { return Ok(None) };
        let path = object_path(entry.id);
        let target = self.root.join(&path);
        fs::create_dir_all(target.parent().unwrap_or(&self.root))?;
        let file = OpenOptions::new().write(true).create_new(true).open(&target)?;
        match snapshot.copy(key, &mut Observed { file, observe }) {
            Ok(true) => {}
            outcome => {
                fs::remove_file(&target)?;
                return outcome.map(|_| None);
            }
        }
        self.next_id = self.next_id.max(entry.id + 1);
        self.records.push(Record::Put { key: key.to_owned(), entry, used: None });
        Ok(Some(Copied { path, size: entry.size }))
    }

    /// Writes the journal. Returns its path below the root.
    pub fn finish(self) -> io::Result<PathBuf> {
        let next_id = Record::NextId(self.next_id);
        let journal = Files::of(self.root.clone()).journal();
        Journal::create(&journal, [next_id].into_iter().chain(self.records))?;
        Ok(journal.strip_prefix(&self.root).unwrap_or(&journal).to_owned())
    }
}

/// File whose writer is observed.
struct Observed<'a> {
    file: File,
    observe: &'a mut dyn FnMut(&[u8]),
}

impl Write for Observed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        (self.observe)(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
