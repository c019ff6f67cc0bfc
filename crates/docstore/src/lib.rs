//! The source of truth: organizations, documents, captures, files, runs and the outbox, in SQLite or
//! PostgreSQL. See README.md.

#![expect(clippy::duplicate_mod, reason = "`queries/` is compiled once for each backend: see `backend.rs`")]

mod backend;
mod documents;
mod error;
mod histogram;
mod location;
mod migrations;
mod nul;
mod operations;
mod rows;
mod runs;
mod schema;
mod types;

pub use documents::{DocumentState, LoadedDocument, NewDocument, Saved, StoredCapture};
pub use error::{Result, StoreError};
pub use histogram::DurationHistogram;
pub use location::Location;
pub use nul::strip_nul;
pub use rows::*;
pub use runs::FileResult;
pub use types::{Details, Strings};

use std::future::Future;

use backend::{Backend, postgres, sqlite};
use tokio::runtime::{Handle, RuntimeFlavor};

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

impl Docstore {
    /// Opens the pools; connections are made when they are first needed. `connections` bounds concurrent reads
    /// (and, on PostgreSQL, writes).
    ///
    /// # Errors
    ///
    /// `WrongRuntime` unless it is called on a multi-threaded tokio runtime, which the store then works on:
    /// migrations and SQLite calls that are dropped block a thread, and a current-thread runtime has none to spare.
    pub fn open(location: &Location, connections: usize) -> Result<Self> {
        let runtime = Handle::try_current().map_err(|_| StoreError::WrongRuntime)?;
        if runtime.runtime_flavor() == RuntimeFlavor::CurrentThread {
            return Err(StoreError::WrongRuntime);
        }
        let backend = match location {
            Location::Sqlite(path) => Backend::Sqlite(sqlite::Pools::open(path, connections)?),
            Location::Postgres(url) => Backend::Postgres(postgres::Pools::open(url, connections)?),
        };
        Ok(Self { backend, runtime })
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
