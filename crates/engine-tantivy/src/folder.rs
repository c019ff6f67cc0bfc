//! The folder that holds both indexes: who owns it, and whether what is in it can be used.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use engine::EngineError;
use retrieval_core::analysis::ANALYSIS_VERSION;

use crate::error::from_io;
use crate::schema::SCHEMA_VERSION;

/// Held by the one process that may read and write the indexes. The operating system lets go of it when
/// the process ends, however it ends.
const LOCK: &str = "LOCK";
/// What the indexes were written by.
const VERSION: &str = "VERSION";
/// Present while the indexes hold less than the docstore does. It outlives a crash in the middle of
/// filling them.
const REBUILD: &str = "REBUILD";

pub struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Takes possession of the folder, making it where there is none. `None`: another process has it.
    pub fn own(path: &Path) -> Result<Option<Self>, EngineError> {
        let failed = |error| from_io(format!("cannot use the index folder `{}`", path.display()))(error);
        fs::create_dir_all(path).map_err(failed)?;
        let lock = File::options().create(true).truncate(false).write(true).open(path.join(LOCK)).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self { path: path.to_owned(), _lock: lock })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    pub fn index(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Whether the indexes were written by this version of schema and analysis.
    pub fn is_current(&self) -> bool {
        fs::read_to_string(self.path.join(VERSION)).is_ok_and(|found| found == version())
    }

    pub fn set_current(&self) -> Result<(), EngineError> {
        self.write(VERSION, &version())
    }

    pub fn needs_rebuild(&self) -> bool {
        self.path.join(REBUILD).exists()
    }

    pub fn set_needs_rebuild(&self, needed: bool) -> Result<(), EngineError> {
        if needed {
            return self.write(REBUILD, "these indexes are being filled from the docstore\n");
        }
        match fs::remove_file(self.path.join(REBUILD)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(from_io(format!("cannot remove `{REBUILD}` from the index folder"))(error))
            }
            _ => self.sync(),
        }
    }

    /// Removes one index. What was in it is derived and can be made again.
    pub fn discard(&self, name: &str) -> Result<(), EngineError> {
        match fs::remove_dir_all(self.index(name)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
                fs::remove_file(self.index(name)).map_err(from_io(format!("cannot remove the index `{name}`")))
            }
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(from_io(format!("cannot remove the index `{name}`"))(error))
            }
            _ => Ok(()),
        }
    }

    fn write(&self, name: &str, content: &str) -> Result<(), EngineError> {
        let failed = |error| from_io(format!("cannot write `{name}` in the index folder"))(error);
        let path = self.path.join(name);
        fs::write(&path, content).map_err(failed)?;
        File::open(&path).and_then(|file| file.sync_all()).map_err(failed)?;
        self.sync()
    }

    /// Makes new and removed names in the folder durable.
    fn sync(&self) -> Result<(), EngineError> {
        // Windows cannot open a folder as a file, and needs no such call.
        if cfg!(unix) {
            File::open(&self.path).and_then(|file| file.sync_all()).map_err(from_io("cannot sync the index folder"))?;
        }
        Ok(())
    }
}

fn version() -> String {
    format!("engine-tantivy schema {SCHEMA_VERSION} analysis {ANALYSIS_VERSION}\n")
}
