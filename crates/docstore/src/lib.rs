#![doc = include_str!("../README.md")]
#![expect(clippy::duplicate_mod, reason = "`queries/` is compiled once for each backend: see `backend.rs`")]

mod arrays;
mod backend;
mod copies;
mod crawls;
mod documents;
mod embedding;
mod error;
mod file_result;
mod histogram;
mod inventory;
mod location;
mod message_language;
mod migrations;
mod nul;
mod operations;
mod outbox_work;
mod part_map;
mod parts;
mod passage_vectors;
#[cfg(test)]
mod query_counts;
#[cfg(test)]
mod query_plans;
mod rows;
mod run_counts;
mod schema;
mod search_details;
mod server_time;
mod shared_clock;
mod types;
mod visible;

pub use crawls::{
    CrawlLimits, CrawlVisit, DueUrls, FrontierTotals, HostVisit, NewCrawlUrl, NextVisit, PageChange, Recorded,
    SkippedLinks, WebPageEntry,
};
pub use documents::{
    CaptureHead, DocumentState, DocumentToRank, KeyedTerms, LoadedDocument, NewDocument, NewPage, NewPageRead,
    ReadCapture, SaveOutcome, StoredCapture, TermVectorState,
};
pub use embedding::{CaptureVectors, EmbeddingProgress, NewVectors};
use error::joined;
pub use error::{Result, StoreError};
pub use file_result::{FileContent, FileResult};
pub use histogram::DurationHistogram;
pub use inventory::Contents;
pub use location::Location;
pub use nul::strip_nul;
pub use operations::Operation;
pub use outbox_work::OutboxWork;
pub use part_map::{Mark, PartMap};
pub use parts::{LoadedPart, NewParts, TermBucket, WantedParts, divide, divide_at, is_whole};
pub use passage_vectors::PassageVector;
pub use rows::*;
pub use search_details::{Place, ResultDetails, SearchDetails};
pub use types::{Details, Strings};
pub use visible::VisibleDocument;

use std::future::Future;
use std::sync::Arc;

pub use backend::PoolUsage;
use backend::{Backend, postgres, sqlite};
use shared_clock::SharedClock;
use tokio::runtime::{Handle, RuntimeFlavor};
use trace_context::{ActiveSpan, SpanKind};

/// Handle to the database. Cheap to clone.
///
/// Every operation is a method, declared in `operations.rs`, and runs on the runtime that opened the store: on PostgreSQL in a task, on
/// SQLite on a blocking thread. Dropping the caller's future does not cancel a transaction, and the database drivers stay off the
/// runtimes of the HTTP workers.
#[derive(Clone)]
pub struct Docstore {
    backend: Backend,
    runtime: Handle,
    clock: Arc<SharedClock>,
}

impl Docstore {
    /// Opens the connection pools. Connections are established on first use. `connections` bounds concurrent reads and,
    /// on PostgreSQL, writes.
    ///
    /// # Errors
    ///
    /// `WrongRuntime` unless called on a multi-threaded tokio runtime, which then runs all operations. Migrations on PostgreSQL block a
    /// thread, which a current-thread runtime cannot spare.
    pub fn open(location: &Location, connections: usize) -> Result<Self> {
        let runtime = Handle::try_current().map_err(|_| StoreError::WrongRuntime)?;
        if runtime.runtime_flavor() == RuntimeFlavor::CurrentThread {
            return Err(StoreError::WrongRuntime);
        }
        let backend = match location {
            Location::Sqlite(path) => Backend::Sqlite(sqlite::Pools::open(path, connections)?),
            Location::Postgres(url) => Backend::Postgres(postgres::Pools::open(url, connections)?),
        };
        Ok(Self { backend, runtime, clock: Arc::default() })
    }

    /// Runs all pending migrations and returns their number.
    ///
    /// # Errors
    ///
    /// `NewerDatabase` if a newer version has migrated the database.
    pub async fn migrate(&self) -> Result<usize> {
        let backend = self.backend.clone();
        self.detached(async move { migrations::run(backend).await }).await
    }

    /// Verifies that no migration is pending.
    ///
    /// # Errors
    ///
    /// `NotMigrated` otherwise; `NewerDatabase` if a newer version has migrated the database.
    pub async fn check_migrated(&self) -> Result<()> {
        let backend = self.backend.clone();
        self.detached(async move { migrations::check(backend).await }).await
    }

    /// Reverts all migrations, which deletes all data. For tests of the migrations only.
    #[doc(hidden)]
    pub async fn revert_all_migrations(&self) -> Result<()> {
        let backend = self.backend.clone();
        self.detached(async move { migrations::revert_all(backend).await }).await
    }

    /// Returns the present use of the connections.
    pub fn pool_usage(&self) -> PoolUsage {
        match &self.backend {
            Backend::Postgres(pools) => pools.usage(),
            Backend::Sqlite(pools) => pools.usage(),
        }
    }

    /// Runs an operation, as a span of the current trace.
    fn operation<T: Send + 'static>(name: &'static str, system: &'static str, work: Operation<T>) -> Operation<T> {
        Box::pin(async move {
            let mut span = ActiveSpan::begin(name, SpanKind::Client);
            span.set("db.system.name", system);
            let outcome = work.await;
            if outcome.is_err() {
                span.fail();
            }
            outcome
        })
    }

    /// Runs `work` to completion on the store's runtime, even if the caller's future is dropped.
    fn detached<T: Send + 'static, W: Future<Output = Result<T>> + Send + 'static>(
        &self,
        work: W,
    ) -> impl Future<Output = Result<T>> + Send + use<T, W> {
        let runtime = self.runtime.clone();
        async move { joined(runtime.spawn(work).await) }
    }
}
