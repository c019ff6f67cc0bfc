use std::ffi::OsString;
use std::path::Path;

use docstore::{Docstore, Location};
use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::runtime;

const FILE: &str = "test.db";
const CONNECTIONS: usize = 4;

/// A migrated SQLite database that is removed with this value.
pub struct Database {
    folder: TempDir,
}

impl Database {
    pub async fn new() -> Self {
        static TEMPLATE: OnceCell<Vec<(OsString, Vec<u8>)>> = OnceCell::const_new();
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in TEMPLATE.get_or_init(template).await {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        Self { folder }
    }

    /// A store of its own on this database, as another process has one.
    pub fn open(&self) -> Docstore {
        open(self.folder.path())
    }

    /// The folder of the database, for files of the same test.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

fn open(folder: &Path) -> Docstore {
    let _entered = runtime().enter();
    Docstore::open(&Location::Sqlite(folder.join(FILE)), CONNECTIONS).unwrap()
}

/// The files of a migrated database: itself, and its write-ahead log where it has one.
async fn template() -> Vec<(OsString, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    store.migrate().await.unwrap();
    let files = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    // The index of the log is shared memory, which SQLite makes anew.
    let kept = files.filter(|path| path.extension().is_none_or(|extension| extension != "db-shm"));
    kept.map(|path| (path.file_name().unwrap().to_owned(), std::fs::read(&path).unwrap())).collect()
}
