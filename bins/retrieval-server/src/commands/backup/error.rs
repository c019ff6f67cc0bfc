use std::io;
use std::path::{Path, PathBuf};

use settings::{Settings, StorageBackend};

use crate::archive::OBJECTS;
use crate::compose;

/// Reason for refusing a backup or a restore.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// PostgreSQL has its own tools, which know roles, extensions and replication.
    #[error(
        "the database is PostgreSQL, which its own tools back up: run `{command}` with the URL of `database.url` in \
         DATABASE_URL, {objects}"
    )]
    Postgres { command: String, objects: String },
    #[error("the folder `{}` is not empty: name a new or an empty one", path.display())]
    NotEmpty { path: PathBuf },
    #[error("the data folder `{}` is not empty: move its content away, or set another `data_dir`", path.display())]
    HasData { path: PathBuf },
    #[error("writing the folder `{}`", path.display())]
    Folder {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl BackupError {
    pub fn postgres(folder: &Path, settings: &Settings) -> Self {
        let dump = folder.join("retrieval.dump");
        let command = format!("pg_dump --format=custom --file='{}' \"$DATABASE_URL\"", dump.display());
        let objects = match settings.storage.backend {
            StorageBackend::S3 => "and copy the objects with the tools of their store".to_owned(),
            StorageBackend::Embedded => {
                let (from, to) = (compose::objects_dir(settings), folder.join(OBJECTS));
                // First the journal: it names files that do not change, and others appear meanwhile.
                let parts = ["journal", "store-id", "incoming", "objects"].map(|part| from.join(part));
                let parts = parts.map(|part| format!("'{}'", part.display())).join(" ");
                format!("and then, for the objects, `mkdir -p '{to}' && cp -a {parts} '{to}'`", to = to.display())
            }
        };
        Self::Postgres { command, objects }
    }

    pub fn postgres_restore(folder: &Path, settings: &Settings) -> Self {
        let dump = folder.join("retrieval.dump");
        let command = format!("pg_restore --dbname=\"$DATABASE_URL\" '{}'", dump.display());
        let objects = match settings.storage.backend {
            StorageBackend::S3 => "after the objects are back, with the tools of their store".to_owned(),
            StorageBackend::Embedded => {
                let (from, to) = (folder.join(OBJECTS), compose::objects_dir(settings));
                format!("and copy `{}` to `{}` before the first start", from.display(), to.display())
            }
        };
        Self::Postgres { command, objects }
    }

    pub fn of_folder(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => Self::NotEmpty { path },
            _ => Self::Folder { path, source },
        }
    }

    pub fn of_data_folder(path: &Path, source: io::Error) -> Self {
        match Self::of_folder(path, source) {
            Self::NotEmpty { path } => Self::HasData { path },
            error => error,
        }
    }
}
