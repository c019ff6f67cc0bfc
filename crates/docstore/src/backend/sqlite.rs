//! SQLite backend: bundled library, WAL mode, many readers and one writer.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use diesel::{ConnectionError, ConnectionResult, QueryResult, SqliteConnection};
use diesel_async::pooled_connection::deadpool::{Object, Pool};
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod};
use diesel_async::{AsyncConnection, SimpleAsyncConnection};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use model::DocId;
use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;

use crate::backend::group_commit::{GroupCommit, Kind};
pub use crate::backend::same_thread::Conn;
use crate::backend::{CONNECTION_TIMEOUT, PoolUsage, group_commit, same_thread};
use crate::error::{Result, StoreError, is_sqlite_busy, joined};

/// Returns the query unchanged: SQLite has one writer at a time, so no row is locked by another transaction.
macro_rules! lock_available_rows {
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
macro_rules! lock_rows_for_deletion {
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

/// Returns the condition that a column of ids has one of these values.
macro_rules! is_one_of {
    ($column:expr, $ids:expr) => {
        crate::backend::id_list::IsOneOf::new($column, $ids)
    };
}

/// Loads all rows of a query. Unlike the asynchronous API of diesel, it does not copy every row before it is read.
macro_rules! load_rows {
    ($connection:expr, $query:expr) => {{
        let query = $query;
        $connection.spawn_blocking(move |connection| diesel::RunQueryDsl::load(query, connection)).await
    }};
}

/// Loads all rows of each of equal queries.
macro_rules! load_all {
    ($connection:expr, $queries:expr) => {{
        let queries: Vec<_> = $queries.into_iter().collect();
        $connection
            .spawn_blocking(move |connection| {
                queries.into_iter().map(|query| diesel::RunQueryDsl::load(query, connection)).collect()
            })
            .await
    }};
}

/// Loads all rows of each of equal queries, in order.
macro_rules! load_all_in_order {
    ($connection:expr, $queries:expr) => {
        load_all!($connection, $queries)
    };
}

/// Runs two pieces of work, one after the other.
macro_rules! run_both {
    ($connection:expr, |$shared:ident| $first:expr, $second:expr) => {
        async {
            let $shared: &mut Conn = $connection;
            let first = $first?;
            let second = $second?;
            diesel::QueryResult::Ok((first, second))
        }
        .await
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

/// Inserts any number of rows, in batches, and skips existing ones. Returns the number inserted.
macro_rules! insert_missing_rows {
    ($connection:expr, $table:expr, $rows:expr) => {{
        let rows = $rows;
        $connection
            .spawn_blocking(move |connection| {
                let mut inserted: usize = 0;
                for rows in crate::backend::batches(rows) {
                    let insert = diesel::insert_or_ignore_into($table).values(rows);
                    inserted += diesel::RunQueryDsl::execute(insert, connection)?;
                }
                Ok(inserted)
            })
            .await
    }};
}

/// Inserts any number of rows, in batches.
macro_rules! insert_bulk {
    ($connection:expr, $table:expr, $rows:expr) => {
        insert_rows!($connection, $table, $rows)
    };
}

/// Inserts any number of rows and skips existing ones.
macro_rules! insert_missing_bulk {
    ($connection:expr, $table:expr, $rows:expr) => {
        insert_missing_rows!($connection, $table, $rows).map(|_| ())
    };
}

/// Executes equal statements with different values in order.
macro_rules! execute_all {
    ($connection:expr, $statements:expr) => {{
        let statements: Vec<_> = $statements.into_iter().collect();
        if statements.is_empty() {
            diesel::QueryResult::Ok(())
        } else {
            $connection
                .spawn_blocking(move |connection| {
                    for statement in statements {
                        diesel::RunQueryDsl::execute(statement, connection)?;
                    }
                    Ok(())
                })
                .await
        }
    }};
}

#[path = "../queries/mod.rs"]
pub mod queries;

/// Id of the entries that clear an index, as a literal: the planner would not use an index on these entries for a bound value.
const CLEAR_INDEX: &str = "x'00000000000000000000000000000000'";

/// Does nothing: SQLite has one writer at a time.
async fn lock_documents(_connection: &mut Conn, _doc_ids: &[DocId]) -> Result<()> {
    Ok(())
}

/// Does nothing: SQLite has one writer at a time.
async fn lock_outbox(_connection: &mut Conn) -> Result<()> {
    Ok(())
}

/// Does nothing: SQLite has one writer at a time.
async fn lock_organizations(_connection: &mut Conn) -> Result<()> {
    Ok(())
}

/// Does nothing: SQLite has one writer at a time.
async fn lock_claims_of_deliveries(_connection: &mut Conn) -> Result<()> {
    Ok(())
}

/// Does nothing: SQLite plans without statistics, so that its plans do not change with the data. It takes the rows of one organization for
/// as few as those of one id: a table with an index on the organization alone is read by it, also to find rows by their ids.
async fn refresh_statistics(_connection: &mut Conn) -> Result<()> {
    Ok(())
}

/// Settings of every connection. `busy_timeout` comes first, so that the others wait for a lock instead of failing.
/// `FULL` syncs the write-ahead log at every commit, so that a power failure loses no acknowledged write.
const PRAGMAS: &str = "PRAGMA busy_timeout = 10000;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -4096;";

/// Further settings of the writer, which waits for the write lock by itself: see [`group_commit::immediate_transaction`].
const WRITER_PRAGMAS: &str = "PRAGMA busy_timeout = 0;";

const READ_ONLY_PRAGMAS: &str = "PRAGMA query_only = ON; PRAGMA temp_store = MEMORY;";

/// Returns the path as text.
pub fn path_text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| StoreError::InvalidUrl {
        url: path.display().to_string(),
        message: "the path is not valid UTF-8".to_owned(),
    })
}

/// Escapes the characters that have a meaning in a file URI.
fn escape_uri(path: &str) -> String {
    path.replace('%', "%25").replace('?', "%3f").replace('#', "%23")
}

#[derive(Clone)]
pub struct Pools {
    readers: Pool<Conn>,
    /// Single connection: SQLite has one writer at a time, and waiting in the pool is fair and cheap.
    writer: Pool<Conn>,
    group_commit: Arc<GroupCommit>,
    /// Runtime whose blocking threads run the operations.
    runtime: Handle,
}

impl Pools {
    /// Opens a file on the current runtime.
    pub fn open(path: &Path, readers: usize) -> Result<Self> {
        Self::of(path_text(path)?, readers, PRAGMAS)
    }

    /// Opens a file that no process writes. Writes fail.
    pub fn open_copy(path: &Path) -> Result<Self> {
        let url = format!("file:{}?mode=ro&immutable=1", escape_uri(path_text(path)?));
        Self::of(&url, 1, READ_ONLY_PRAGMAS)
    }

    fn of(url: &str, readers: usize, pragmas: &'static str) -> Result<Self> {
        let runtime = Handle::try_current().map_err(|_| StoreError::WrongRuntime)?;
        Ok(Self {
            readers: pool(url, readers, [pragmas, ""], &runtime)?,
            writer: pool(url, 1, [pragmas, WRITER_PRAGMAS], &runtime)?,
            group_commit: Arc::default(),
            runtime,
        })
    }

    pub fn usage(&self) -> PoolUsage {
        PoolUsage::of(self.readers.status()) + PoolUsage::of(self.writer.status())
    }

    /// Runs the body on a connection. It may see writes of others between its statements.
    pub async fn read<T, F>(&self, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T>> + Send + 'static,
    {
        self.run(&self.readers, body).await
    }

    /// Runs the body on one consistent snapshot of the database.
    pub async fn snapshot<T, F>(&self, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T>> + Send + 'static,
    {
        self.read(|connection| Box::pin(connection.transaction(async move |connection| body(connection).await))).await
    }

    /// Runs the body in one transaction that holds the write lock from its start.
    pub async fn exclusive<T: Send + 'static>(
        &self,
        body: impl FnOnce(&mut SqliteConnection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let run = |connection: &mut SqliteConnection| Ok(group_commit::immediate_transaction(connection, body));
        self.run(&self.writer, |connection| Box::pin(async { connection.spawn_blocking(run).await? })).await
    }

    /// Runs the body with a connection of a pool. A dropped future stops waiting for one.
    ///
    /// A task waits: the pool gives a free connection to whoever has waited longest, and a future that its caller does not poll for a
    /// while would keep it from all others.
    async fn run<T, F>(&self, pool: &Pool<Conn>, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T>> + Send + 'static,
    {
        if pool.status().available > 0
            && let Some(connection) = free(pool).now_or_never()
        {
            return same_thread::run_with(&self.runtime, connection?, body).await;
        }
        let (pool, runtime) = (pool.clone(), self.runtime.clone());
        let waiting = async move { same_thread::run_with(&runtime, free(&pool).await?, body).await };
        joined(AbortOnDropHandle::new(self.runtime.spawn(waiting)).await)
    }

    /// Runs the body in a transaction that holds the write lock from its start, and returns after its commit. A deferred
    /// transaction that reads before it writes would fail under concurrency instead of waiting.
    pub async fn write<T, F>(&self, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T>> + Send + 'static,
    {
        self.commit(Kind::Durable, body).await
    }

    /// Runs the body like [`write`](Self::write), without waiting for the disk: a power failure may lose it.
    pub async fn write_relaxed<T, F>(&self, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T>> + Send + 'static,
    {
        self.commit(Kind::Relaxed, body).await
    }

    /// Runs the write to its end, even if the future is dropped.
    async fn commit<T, F>(&self, kind: Kind, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T>> + Send + 'static,
    {
        let pools = self.clone();
        let writing = async move { pools.group_commit.write(&pools.runtime, &pools.writer, kind, body).await };
        joined(self.runtime.spawn(writing).await)
    }

    /// Runs the body like [`write_relaxed`](Self::write_relaxed).
    pub async fn write_stepwise<T, F>(&self, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T>> + Send + 'static,
    {
        self.write_relaxed(body).await
    }

    /// Runs the body like [`write`](Self::write), in a transaction that no other write shares.
    pub async fn write_bulk<T, F>(&self, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T>> + Send + 'static,
    {
        self.commit(Kind::Bulk, body).await
    }
}

/// Applies the settings to a new connection, with retries while the database is locked.
///
/// Processes that open a new file concurrently all change its journal mode. SQLite rejects all but one immediately,
/// regardless of `busy_timeout`: waiting would deadlock two readers that both want to write.
async fn apply_pragmas(connection: &mut Conn, pragmas: &str) -> QueryResult<()> {
    let deadline = Instant::now() + CONNECTION_TIMEOUT;
    loop {
        match connection.batch_execute(pragmas).await {
            Err(error) if is_sqlite_busy(&error) && Instant::now() < deadline => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            outcome => return outcome,
        }
    }
}

/// Waits for a free connection.
async fn free(pool: &Pool<Conn>) -> Result<Object<Conn>> {
    pool.get().await.map_err(|error| StoreError::Unavailable(error.to_string()))
}

fn pool(url: &str, connections: usize, pragmas: [&'static str; 2], runtime: &Handle) -> Result<Pool<Conn>> {
    let mut config = ManagerConfig::<Conn>::default();
    let runtime = runtime.clone();
    config.custom_setup = Box::new(move |url| {
        let (url, runtime) = (url.to_owned(), runtime.clone());
        Box::pin(async move {
            let connected = same_thread::run(&runtime, connect(url, pragmas)).await;
            connected.unwrap_or_else(|error| Err(ConnectionError::BadConnection(error.to_string())))
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

async fn connect(url: String, pragmas: [&str; 2]) -> ConnectionResult<Conn> {
    let mut connection = Conn::establish(&url).await?;
    for pragmas in pragmas {
        apply_pragmas(&mut connection, pragmas).await.map_err(ConnectionError::CouldntSetupConfiguration)?;
    }
    Ok(connection)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use diesel::QueryableByName;
    use diesel::sql_types::BigInt;
    use diesel_async::RunQueryDsl;

    use super::*;

    #[derive(QueryableByName)]
    struct Number {
        #[diesel(sql_type = BigInt)]
        number: i64,
    }

    async fn number(connection: &mut Conn, query: &str) -> i64 {
        diesel::sql_query(query).get_result::<Number>(connection).await.unwrap().number
    }

    async fn insert(connection: &mut Conn, number: i64) -> Result<()> {
        diesel::sql_query("INSERT INTO t VALUES (?)").bind::<BigInt, _>(number).execute(connection).await?;
        Ok(())
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_read_that_is_not_polled_keeps_no_connection() {
        let folder = tempfile::tempdir().unwrap();
        let pools = Pools::open(&folder.path().join("test.db"), 1).unwrap();
        let held = free(&pools.readers).await.unwrap();
        let read = || {
            Box::pin(pools.read(|connection| Box::pin(async { Ok(number(connection, "SELECT 7 AS number").await) })))
        };
        let (mut first, mut second) = (read(), read());
        for waiting in [&mut first, &mut second] {
            assert!(waiting.now_or_never().is_none());
        }
        drop(held);
        assert_eq!(second.await.unwrap(), 7);
        assert_eq!(first.await.unwrap(), 7);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_dropped_read_does_not_wait_for_a_connection() {
        let folder = tempfile::tempdir().unwrap();
        let pools = Pools::open(&folder.path().join("test.db"), 1).unwrap();
        let held = free(&pools.readers).await.unwrap();
        let (begin, begun) = tokio::sync::oneshot::channel();
        let mut read = Box::pin(pools.read(|_| Box::pin(async { Ok(begin.send(())) })));
        assert!((&mut read).now_or_never().is_none());
        while pools.readers.status().waiting == 0 {
            tokio::task::yield_now().await;
        }
        drop(read);
        // Before there is a connection.
        assert!(begun.await.is_err());
        drop(held);
    }

    /// Counts the commits in the write-ahead log (https://sqlite.org/fileformat2.html#walformat).
    fn commits(database: &Path) -> usize {
        let log = std::fs::read(database.with_extension("db-wal")).unwrap();
        let page_size = u32::from_be_bytes(log[8..12].try_into().unwrap()) as usize;
        log[32..].chunks(24 + page_size).filter(|frame| frame[4..8] != [0; 4]).count()
    }

    /// Returns the level of syncing in a write: 1 is NORMAL, 2 is FULL.
    async fn level(connection: &mut Conn) -> Result<i64> {
        Ok(number(connection, "SELECT synchronous AS number FROM pragma_synchronous").await)
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn durable_commits_are_synced() {
        let folder = tempfile::tempdir().unwrap();
        let pools = Pools::open(&folder.path().join("test.db"), 1).unwrap();
        for _ in 0..2 {
            assert_eq!(pools.write(|connection| Box::pin(level(connection))).await.unwrap(), 2);
            assert_eq!(pools.write_relaxed(|connection| Box::pin(level(connection))).await.unwrap(), 1);
            assert_eq!(pools.write_bulk(|connection| Box::pin(level(connection))).await.unwrap(), 2);
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn relaxed_write_waits_for_no_durable_one_behind_it() {
        let folder = tempfile::tempdir().unwrap();
        let pools = Pools::open(&folder.path().join("test.db"), 1).unwrap();
        let held = free(&pools.writer).await.unwrap();
        let mut writes = Vec::new();
        for n in 0..4 {
            let writers = pools.clone();
            writes.push(tokio::spawn(async move {
                match n {
                    0 | 3 => writers.write_relaxed(|connection| Box::pin(level(connection))).await,
                    _ => writers.write(|connection| Box::pin(level(connection))).await,
                }
            }));
            while pools.group_commit.waiting() <= n {
                tokio::task::yield_now().await;
            }
        }
        drop(held);
        let mut levels = Vec::new();
        for write in writes {
            levels.push(write.await.unwrap().unwrap());
        }
        assert_eq!(levels, [1, 2, 2, 2], "the last one joins the durable writes");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn write_gets_its_turn_between_bulk_writes_of_another_process() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("test.db");
        let pools = Pools::open(&file, 1).unwrap();
        let mut held = free(&pools.writer).await.unwrap();
        held.batch_execute("CREATE TABLE t (number BIGINT)").await.unwrap();
        drop(held);
        let another = Pools::open(&file, 1).unwrap();
        let importing = tokio::spawn(async move {
            loop {
                let import = another.write_bulk(|connection| {
                    Box::pin(async move {
                        insert(connection, 0).await?;
                        std::thread::sleep(Duration::from_millis(150));
                        Ok(())
                    })
                });
                import.await.unwrap();
            }
        });
        for n in 1..=5 {
            let started = Instant::now();
            pools.write(move |connection| Box::pin(insert(connection, n))).await.unwrap();
            assert!(started.elapsed() < Duration::from_secs(2), "{n}: {:?}", started.elapsed());
            // The other one writes meanwhile.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        importing.abort();
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn waiting_writes_share_a_commit_and_fail_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("test.db");
        let pools = Pools::open(&file, 1).unwrap();
        let mut held = free(&pools.writer).await.unwrap();
        held.batch_execute("CREATE TABLE t (number BIGINT PRIMARY KEY)").await.unwrap();
        let before = commits(&file);
        let mut writes = Vec::new();
        for n in 0..20 {
            let writers = pools.clone();
            writes.push(tokio::spawn(async move {
                writers
                    .write(move |connection| {
                        Box::pin(async move {
                            insert(connection, n).await?;
                            match n {
                                7 => Err(StoreError::Conflict),
                                // A duplicate, as the database reports it.
                                8 => insert(connection, n).await,
                                9 => panic!("a bug"),
                                _ => Ok(()),
                            }
                        })
                    })
                    .await
            }));
            // In this order.
            while pools.group_commit.waiting() <= n as usize {
                tokio::task::yield_now().await;
            }
        }
        drop(held);
        for (n, write) in writes.into_iter().enumerate() {
            let outcome = write.await.unwrap();
            match n {
                7 | 8 => assert!(matches!(outcome, Err(StoreError::Conflict)), "{n}: {outcome:?}"),
                9 => assert!(matches!(outcome, Err(StoreError::Interrupted(_))), "{n}: {outcome:?}"),
                _ => outcome.unwrap(),
            }
        }
        assert!(commits(&file) - before <= 5, "{} commits for 20 writes", commits(&file) - before);
        let mut reader = free(&pools.readers).await.unwrap();
        assert_eq!(number(&mut reader, "SELECT count(*) AS number FROM t").await, 17);
        assert_eq!(number(&mut reader, "SELECT count(*) AS number FROM t WHERE number BETWEEN 7 AND 9").await, 0);
    }
}
