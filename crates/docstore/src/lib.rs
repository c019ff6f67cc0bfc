//! The source of truth: organizations, documents, captures, files, runs and the outbox, in SQLite or
//! PostgreSQL. See README.md.

mod backend;
mod documents;
mod error;
mod migrations;
mod operations;
mod rows;
mod runs;
mod schema;
mod types;

pub use documents::{LoadedDocument, NewDocument, Saved, StoredCapture};
pub use error::{Result, StoreError};
pub use rows::*;
pub use runs::FileResult;
pub use types::{Id, Strings};

use std::future::Future;
use std::path::{Path, PathBuf};

use backend::{Backend, postgres, sqlite};
use tokio::runtime::Handle;

/// A docstore: cheap to clone, shared by everything that reads or writes.
///
/// Every operation is a method (see `operations.rs`) and runs as a task of the runtime that opened the
/// store: dropping the caller's future (a timeout, a client that left) never cuts a transaction in half,
/// and the database drivers stay off the HTTP workers' own runtimes.
#[derive(Clone)]
pub struct Docstore {
    backend: Backend,
    runtime: Handle,
}

/// Where a docstore is.
#[derive(Clone, Debug)]
pub enum Location {
    Sqlite(PathBuf),
    Postgres(String),
}

impl Location {
    /// Reads `sqlite:FILE` (relative to `data_dir`) or `postgres://…`.
    pub fn parse(url: &str, data_dir: &Path) -> Result<Self> {
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return Ok(Location::Postgres(url.to_owned()));
        }
        let invalid =
            |message: &str| StoreError::InvalidUrl { url: without_password(url), message: message.to_owned() };
        let file = url.strip_prefix("sqlite:").ok_or_else(|| invalid("expected `sqlite:FILE` or `postgres://...`"))?;
        let file = file.strip_prefix("//").unwrap_or(file);
        if file.is_empty() || file.starts_with(":memory:") {
            return Err(invalid("name a file: each connection to `:memory:` would be its own database"));
        }
        Ok(Location::Sqlite(data_dir.join(file)))
    }
}

/// What an error message may show of a URL.
fn without_password(url: &str) -> String {
    match (url.find("://"), url.rfind('@')) {
        (Some(scheme), Some(at)) if scheme < at => format!("{}://...@{}", &url[..scheme], &url[at + 1..]),
        _ => url.to_owned(),
    }
}

impl Docstore {
    /// Opens the pools; connections are made when they are first needed. Must be called on a
    /// multi-threaded tokio runtime. `connections` bounds concurrent reads (and, on PostgreSQL, writes).
    pub fn open(location: &Location, connections: usize) -> Result<Self> {
        let backend = match location {
            Location::Sqlite(path) => Backend::Sqlite(sqlite::Pools::open(path, connections)?),
            Location::Postgres(url) => Backend::Postgres(postgres::Pools::open(url, connections)?),
        };
        Ok(Self { backend, runtime: Handle::current() })
    }

    /// Brings the tables up to this version. Returns how many migrations ran.
    pub async fn migrate(&self) -> Result<usize> {
        let backend = self.backend.clone();
        self.detached(async move { migrations::run(backend).await }).await
    }

    /// `NotMigrated` unless the tables are those of this version.
    pub async fn check_migrated(&self) -> Result<()> {
        let backend = self.backend.clone();
        self.detached(async move { migrations::check(backend).await }).await
    }

    /// Takes every migration back: everything stored is gone. For tests of the migrations alone.
    #[doc(hidden)]
    pub async fn revert_all_migrations(&self) -> Result<()> {
        let backend = self.backend.clone();
        self.detached(async move { migrations::revert_all(backend).await }).await
    }

    /// Runs on the store's own runtime, to its end, whatever becomes of the caller.
    async fn detached<T: Send + 'static>(&self, work: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
        match self.runtime.spawn(work).await {
            Ok(result) => result,
            Err(error) => Err(StoreError::Interrupted(Box::new(error))),
        }
    }
}
