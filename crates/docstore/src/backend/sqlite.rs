//! SQLite backend: bundled library, WAL mode, many readers and one writer.

use std::path::Path;
use std::time::{Duration, Instant};

use diesel::{ConnectionError, QueryResult, SqliteConnection};
use diesel_async::pooled_connection::deadpool::{Object, Pool};
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod};
use diesel_async::sync_connection_wrapper::SyncConnectionWrapper;
use diesel_async::{AsyncConnection, SimpleAsyncConnection};
use model::DocId;

use crate::backend::CONNECTION_TIMEOUT;
use crate::error::{Result, SQLITE_BUSY, StoreError};

pub type Conn = SyncConnectionWrapper<SqliteConnection>;

/// Returns the query unchanged: SQLite has one writer at a time, so no row is locked by another transaction.
macro_rules! lock_free_rows {
    ($query:expr) => {
        $query
    };
}

/// Returns the query unchanged: SQLite has one writer at a time.
macro_rules! lock_rows {
    ($query:expr) => {
        $query
    };
}

/// Returns the query unchanged: SQLite has one writer at a time.
macro_rules! lock_rows_against_deletion {
    ($query:expr) => {
        $query
    };
}

/// Inserts any number of rows, in batches. diesel supports multi-row inserts on SQLite only in its synchronous API.
macro_rules! insert_rows {
    ($connection:expr, $table:expr, $rows:expr) => {{
        let rows = $rows;
        $connection
            .spawn_blocking(move |connection| {
                for rows in crate::backend::batches(rows) {
                    diesel::RunQueryDsl::execute(diesel::insert_into($table).values(rows), connection)?;
                }
                Ok(())
            })
            .await
    }};
}

/// Inserts any number of rows, in batches, and skips existing ones.
macro_rules! insert_missing_rows {
    ($connection:expr, $table:expr, $rows:expr) => {{
        let rows = $rows;
        $connection
            .spawn_blocking(move |connection| {
                for rows in crate::backend::batches(rows) {
                    diesel::RunQueryDsl::execute(diesel::insert_or_ignore_into($table).values(rows), connection)?;
                }
                Ok(())
            })
            .await
    }};
}

#[path = "../queries/mod.rs"]
pub mod queries;

/// Does nothing: SQLite has one writer at a time.
async fn lock_documents(_connection: &mut Conn, _doc_ids: &[DocId]) -> Result<()> {
    Ok(())
}

/// Settings of every connection. `busy_timeout` comes first, so that the others wait for a lock instead of failing.
/// `NORMAL` with WAL survives a killed process; a power failure may lose the last commits, never integrity.
const PRAGMAS: &str = "PRAGMA busy_timeout = 10000;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA foreign_keys = ON;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -4096;";

#[derive(Clone)]
pub struct Pools {
    readers: Pool<Conn>,
    /// Single connection: SQLite has one writer at a time, and waiting in the pool is fair and cheap.
    writer: Pool<Conn>,
}

impl Pools {
    pub fn open(path: &Path, readers: usize) -> Result<Self> {
        let url = path.to_str().ok_or_else(|| StoreError::InvalidUrl {
            url: path.display().to_string(),
            message: "the path is not valid UTF-8".to_owned(),
        })?;
        Ok(Self { readers: pool(url, readers)?, writer: pool(url, 1)? })
    }

    pub async fn reader(&self) -> Result<Object<Conn>> {
        self.readers.get().await.map_err(|error| StoreError::Unavailable(error.to_string()))
    }

    pub async fn writer(&self) -> Result<Object<Conn>> {
        self.writer.get().await.map_err(|error| StoreError::Unavailable(error.to_string()))
    }

    /// Runs the body on one consistent snapshot of the database.
    pub async fn snapshot<T, F>(&self, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> futures_util::future::BoxFuture<'c, Result<T>> + Send + 'static,
    {
        let mut connection = self.reader().await?;
        connection.transaction(async move |connection| body(connection).await).await
    }

    /// Runs the body in one transaction that holds the write lock from its start. A deferred transaction that reads
    /// before it writes would fail under concurrency instead of waiting.
    pub async fn write<T, F>(&self, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> futures_util::future::BoxFuture<'c, Result<T>> + Send + 'static,
    {
        let mut connection = self.writer().await?;
        connection.immediate_transaction(async move |connection| body(connection).await).await
    }
}

/// Applies the settings to a new connection, with retries while the database is locked.
///
/// Processes that open a new file concurrently all change its journal mode. SQLite rejects all but one immediately,
/// regardless of `busy_timeout`: waiting would deadlock two readers that both want to write.
async fn apply_pragmas(connection: &mut Conn) -> QueryResult<()> {
    let deadline = Instant::now() + CONNECTION_TIMEOUT;
    loop {
        match connection.batch_execute(PRAGMAS).await {
            Err(error) if is_locked(&error) && Instant::now() < deadline => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            outcome => return outcome,
        }
    }
}

fn is_locked(error: &diesel::result::Error) -> bool {
    matches!(error, diesel::result::Error::DatabaseError(_, info) if info.message() == SQLITE_BUSY)
}

fn pool(url: &str, connections: usize) -> Result<Pool<Conn>> {
    let mut config = ManagerConfig::<Conn>::default();
    config.custom_setup = Box::new(|url| {
        let url = url.to_owned();
        Box::pin(async move {
            let mut connection = Conn::establish(&url).await?;
            apply_pragmas(&mut connection).await.map_err(ConnectionError::CouldntSetupConfiguration)?;
            Ok(connection)
        })
    });
    // A connection to a file does not break, so a test query before every operation would be wasted.
    config.recycling_method = RecyclingMethod::Fast;
    let manager = AsyncDieselConnectionManager::<Conn>::new_with_config(url, config);
    Pool::builder(manager)
        .max_size(connections)
        .wait_timeout(Some(CONNECTION_TIMEOUT * 6))
        .create_timeout(Some(CONNECTION_TIMEOUT))
        .runtime(deadpool::Runtime::Tokio1)
        .build()
        .map_err(|error| StoreError::Unavailable(error.to_string()))
}
