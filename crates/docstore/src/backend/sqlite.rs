//! SQLite: bundled, in WAL mode, many readers and one writer.

use std::path::Path;
use std::time::{Duration, Instant};

use diesel::{ConnectionError, QueryResult, SqliteConnection};
use diesel_async::pooled_connection::deadpool::{Object, Pool};
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod};
use diesel_async::sync_connection_wrapper::SyncConnectionWrapper;
use diesel_async::{AsyncConnection, SimpleAsyncConnection};
use model::DocId;

use crate::backend::CONNECTION_WAIT;
use crate::error::{Result, SQLITE_BUSY, StoreError};

pub type Conn = SyncConnectionWrapper<SqliteConnection>;

/// SQLite has one writer at a time: there are no other transaction's rows to pass over or to wait for.
macro_rules! lock_free_rows {
    ($query:expr) => {
        $query
    };
}

/// As above.
macro_rules! lock_rows {
    ($query:expr) => {
        $query
    };
}

/// As above.
macro_rules! keep_rows {
    ($query:expr) => {
        $query
    };
}

/// Inserts the rows, however many: several in one statement, which diesel knows for SQLite only in its synchronous
/// form.
macro_rules! insert_rows {
    ($connection:expr, $table:expr, $rows:expr) => {{
        let rows = $rows;
        $connection
            .spawn_blocking(move |connection| {
                for rows in crate::backend::statements(rows) {
                    diesel::RunQueryDsl::execute(diesel::insert_into($table).values(rows), connection)?;
                }
                Ok(())
            })
            .await
    }};
}

/// Inserts the rows, however many, leaving those that exist already as they are.
macro_rules! insert_missing_rows {
    ($connection:expr, $table:expr, $rows:expr) => {{
        let rows = $rows;
        $connection
            .spawn_blocking(move |connection| {
                for rows in crate::backend::statements(rows) {
                    diesel::RunQueryDsl::execute(diesel::insert_or_ignore_into($table).values(rows), connection)?;
                }
                Ok(())
            })
            .await
    }};
}

#[path = "../queries/mod.rs"]
pub mod queries;

/// SQLite has one writer at a time: a transaction that writes has all documents to itself.
async fn lock_documents(_connection: &mut Conn, _doc_ids: &[DocId]) -> Result<()> {
    Ok(())
}

/// Set for every connection. `busy_timeout` comes first, so that the others wait for a lock instead of
/// failing; `NORMAL` with WAL survives a killed process, and a power cut may lose the last commits but
/// never the database's integrity.
const SETUP: &str = "PRAGMA busy_timeout = 10000;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA foreign_keys = ON;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -4096;";

#[derive(Clone)]
pub struct Pools {
    readers: Pool<Conn>,
    /// One connection: SQLite has one writer at a time anyway, and waiting here is fair and cheap.
    writer: Pool<Conn>,
}

impl Pools {
    pub fn open(path: &Path, readers: usize) -> Result<Self> {
        let url = path.to_str().ok_or_else(|| StoreError::InvalidUrl {
            url: path.display().to_string(),
            message: "the path is not UTF-8".to_owned(),
        })?;
        Ok(Self { readers: pool(url, readers)?, writer: pool(url, 1)? })
    }

    pub async fn reader(&self) -> Result<Object<Conn>> {
        self.readers.get().await.map_err(|error| StoreError::Unavailable(error.to_string()))
    }

    pub async fn writer(&self) -> Result<Object<Conn>> {
        self.writer.get().await.map_err(|error| StoreError::Unavailable(error.to_string()))
    }

    /// Runs the body on one snapshot of the database: what several queries find belongs together.
    pub async fn snapshot<T, F>(&self, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> futures_util::future::BoxFuture<'c, Result<T>> + Send + 'static,
    {
        let mut connection = self.reader().await?;
        connection.transaction(async move |connection| body(connection).await).await
    }

    /// Runs the body in one transaction that holds the write lock from its start: a deferred one that
    /// reads first and writes later fails under concurrency instead of waiting.
    pub async fn write<T, F>(&self, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> futures_util::future::BoxFuture<'c, Result<T>> + Send + 'static,
    {
        let mut connection = self.writer().await?;
        connection.immediate_transaction(async move |connection| body(connection).await).await
    }
}

/// Several processes that open a new file at once all want to change its journal mode, and SQLite refuses all but one
/// of them at once, whatever `busy_timeout` says: waiting would be a deadlock between two readers who both want to
/// write. Those who are refused try again.
async fn set_up(connection: &mut Conn) -> QueryResult<()> {
    let end = Instant::now() + CONNECTION_WAIT;
    loop {
        match connection.batch_execute(SETUP).await {
            Err(error) if is_locked(&error) && Instant::now() < end => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            outcome => return outcome,
        }
    }
}

fn is_locked(error: &diesel::result::Error) -> bool {
    matches!(error, diesel::result::Error::DatabaseError(_, of) if of.message() == SQLITE_BUSY)
}

fn pool(url: &str, connections: usize) -> Result<Pool<Conn>> {
    let mut config = ManagerConfig::<Conn>::default();
    config.custom_setup = Box::new(|url| {
        let url = url.to_owned();
        Box::pin(async move {
            let mut connection = Conn::establish(&url).await?;
            set_up(&mut connection).await.map_err(ConnectionError::CouldntSetupConfiguration)?;
            Ok(connection)
        })
    });
    // A file does not go away: a test query before every operation would only cost time.
    config.recycling_method = RecyclingMethod::Fast;
    let manager = AsyncDieselConnectionManager::<Conn>::new_with_config(url, config);
    Pool::builder(manager)
        .max_size(connections)
        .wait_timeout(Some(CONNECTION_WAIT * 6))
        .create_timeout(Some(CONNECTION_WAIT))
        .runtime(deadpool::Runtime::Tokio1)
        .build()
        .map_err(|error| StoreError::Unavailable(error.to_string()))
}
