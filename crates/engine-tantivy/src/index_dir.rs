//! Directory of both indexes: ownership, version, and rebuild marker.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use engine::EngineError;
use model::{Generation, IndexName};
use retrieval_core::analysis::ANALYSIS_VERSION;

use crate::error::from_io;
use crate::schema::SCHEMA_VERSION;

/// Lock file of the process that owns the indexes. The operating system releases the lock when the process ends.
const LOCK: &str = "LOCK";
/// File with the version that wrote the indexes.
const VERSION: &str = "VERSION";
/// Marker file that exists while the indexes may lack documents. It survives a crash during a rebuild.
const REBUILD: &str = "REBUILD";

/// File without which tantivy creates a new index.
const META: &str = "meta.json";

/// State of a directory of indexes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum IndexDirState {
    /// Created by the first server.
    Missing,
    /// Another process owns it.
    InUse,
    Complete,
    /// Of another version, an index is lost, or a rebuild is not finished: the next server rebuilds it.
    NeedsRebuild,
}

pub struct IndexDir {
    path: PathBuf,
    _lock: File,
}

impl IndexDir {
    /// Creates the directory if needed and locks it. Returns `None` if another process holds the lock.
    pub fn try_lock(path: &Path) -> Result<Option<Self>, EngineError> {
        let failed = |error| from_io(format!("cannot use index directory `{}`", path.display()))(error);
        fs::create_dir_all(path).map_err(failed)?;
        let lock = File::options().create(true).truncate(false).write(true).open(path.join(LOCK)).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self { path: path.to_owned(), _lock: lock })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// Looks at a directory without changing it.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the directory is not accessible.
    pub fn inspect(path: &Path) -> Result<IndexDirState, EngineError> {
        let failed = |error| from_io(format!("cannot use index directory `{}`", path.display()))(error);
        let lock = match File::options().write(true).open(path.join(LOCK)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(IndexDirState::Missing),
            lock => lock.map_err(failed)?,
        };
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(IndexDirState::InUse),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Ok(()) => {}
        }
        let dir = Self { path: path.to_owned(), _lock: lock };
        let is_complete = dir.is_current()? && dir.has_indexes()? && !dir.needs_rebuild()?;
        Ok(if is_complete { IndexDirState::Complete } else { IndexDirState::NeedsRebuild })
    }

    pub fn index_path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Returns true if the indexes were written by this version of schema and analysis.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the version cannot be read, so that intact indexes are not taken for those of another version.
    pub fn is_current(&self) -> Result<bool, EngineError> {
        match fs::read(self.path.join(VERSION)) {
            Ok(found) => Ok(found == version().as_bytes()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(from_io(format!("cannot read `{VERSION}` in the index directory"))(error)),
        }
    }

    pub fn set_current(&self) -> Result<(), EngineError> {
        self.write(VERSION, &version())
    }

    /// Returns false if an index was not created yet, or was lost.
    pub fn has_indexes(&self) -> Result<bool, EngineError> {
        for name in IndexName::ALL {
            if !self.exists(&Path::new(name.as_str()).join(META))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub fn needs_rebuild(&self) -> Result<bool, EngineError> {
        self.exists(Path::new(REBUILD))
    }

    pub fn set_needs_rebuild(&self, needed: bool) -> Result<(), EngineError> {
        if needed {
            return self.write(REBUILD, "these indexes are being filled from the docstore\n");
        }
        match fs::remove_file(self.path.join(REBUILD)) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(from_io(format!("cannot remove `{REBUILD}` from the index directory"))(error))
            }
            _ => self.sync(),
        }
    }

    /// Returns the stored generation of an index. A damaged file is none: the index is then rebuilt.
    pub fn generation(&self, name: &str) -> Result<Option<Generation>, EngineError> {
        let file = generation_file(name);
        match fs::read_to_string(self.path.join(&file)) {
            Ok(stored) => Ok(stored.trim_end().parse().ok()),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidData) => Ok(None),
            Err(error) => Err(from_io(format!("cannot read `{file}` in the index directory"))(error)),
        }
    }

    pub fn set_generation(&self, name: &str, generation: Generation) -> Result<(), EngineError> {
        let (file, new) = (generation_file(name), format!("{}.new", generation_file(name)));
        self.write(&new, &format!("{generation}\n"))?;
        let renamed = fs::rename(self.path.join(&new), self.path.join(&file));
        renamed.map_err(from_io(format!("cannot write `{file}` in the index directory")))?;
        self.sync()
    }

    /// Deletes one index. Its contents are derived and can be rebuilt.
    pub fn delete_index(&self, name: &str) -> Result<(), EngineError> {
        match fs::remove_dir_all(self.index_path(name)) {
            Err(error) if error.kind() == ErrorKind::NotADirectory => {
                fs::remove_file(self.index_path(name)).map_err(from_io(format!("cannot remove index `{name}`")))
            }
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(from_io(format!("cannot remove index `{name}`"))(error))
            }
            _ => Ok(()),
        }
    }

    /// Returns true if there is a file of this name. A file in place of a directory contains none.
    fn exists(&self, name: &Path) -> Result<bool, EngineError> {
        match self.path.join(name).try_exists() {
            Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(false),
            found => found.map_err(from_io(format!("cannot access `{}` in the index directory", name.display()))),
        }
    }

    fn write(&self, name: &str, content: &str) -> Result<(), EngineError> {
        let failed = |error| from_io(format!("cannot write `{name}` in the index directory"))(error);
        let path = self.path.join(name);
        fs::write(&path, content).map_err(failed)?;
        File::open(&path).and_then(|file| file.sync_all()).map_err(failed)?;
        self.sync()
    }

    /// Makes created and removed directory entries durable.
    fn sync(&self) -> Result<(), EngineError> {
        // Windows cannot open a directory as a file, and does not need this.
        if cfg!(unix) {
            let synced = File::open(&self.path).and_then(|file| file.sync_all());
            synced.map_err(from_io("cannot sync the index directory"))?;
        }
        Ok(())
    }
}

/// Returns the name of the file with the generation of an index.
fn generation_file(name: &str) -> String {
    format!("GENERATION-{name}")
}

fn version() -> String {
    format!("engine-tantivy schema {SCHEMA_VERSION} analysis {ANALYSIS_VERSION}\n")
}
