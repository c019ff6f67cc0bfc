//! PostgreSQL backend: one pool, TLS by rustls if the URL asks for it.

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::time::Duration;

use diesel::sql_types::{Array, Integer};
use diesel::{ConnectionError, ConnectionResult};
use diesel_async::pooled_connection::deadpool::{Object, Pool};
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use model::DocId;
use tokio_postgres::config::SslMode;

use crate::backend::{CONNECTION_TIMEOUT, PoolUsage, messages};
use crate::error::{Result, StoreError};

pub type Conn = AsyncPgConnection;

/// Locks the selected rows and skips rows locked by another transaction.
macro_rules! lock_available_rows {
    ($query:expr) => {
        $query.for_update().skip_locked()
    };
}

/// Locks the selected rows against change, in the order of the query, and waits for locks of other transactions. Select
/// in key order: two transactions that lock in different orders deadlock.
macro_rules! lock_rows {
    ($query:expr) => {
        $query.for_no_key_update()
    };
}

/// Locks the selected rows in order to delete them, like [`lock_rows`]: also against rows that are about to refer to them.
macro_rules! lock_rows_for_deletion {
    ($query:expr) => {
        $query.for_update()
    };
}

/// Locks the selected rows against deletion, in the order of the query.
macro_rules! lock_rows_against_deletion {
    ($query:expr) => {
        $query.for_key_share()
    };
}

/// Returns the condition that a column of ids has one of these values.
macro_rules! is_one_of {
    ($column:expr, $ids:expr) => {
        $column.eq_any(crate::types::bind_all($ids))
    };
}

/// Loads all rows of a query.
macro_rules! load_rows {
    ($connection:expr, $query:expr) => {
        diesel_async::RunQueryDsl::load($query, $connection).await
    };
}

/// Loads all rows of each of equal queries. All are sent before the first response arrives.
macro_rules! load_all {
    ($connection:expr, $queries:expr) => {{
        let shared: &Conn = $connection;
        let load = |query| async move { diesel_async::RunQueryDsl::load(query, &mut &*shared).await };
        futures_util::future::try_join_all($queries.into_iter().map(load)).await
    }};
}

/// Loads all rows of each of equal queries like [`load_all`], and executes them in order. For queries that lock rows one by one: a list of
/// keys of several columns fits into no condition, and the server would sort texts in another order than Rust.
macro_rules! load_all_in_order {
    ($connection:expr, $queries:expr) => {
        async {
            let shared: &Conn = $connection;
            let load = |query| async move { diesel_async::RunQueryDsl::load(query, &mut &*shared).await };
            let mut queries = $queries.into_iter();
            let mut loaded = Vec::new();
            // The first one prepares the statement for all.
            if let Some(first) = queries.next() {
                loaded.push(load(first).await?);
            }
            loaded.extend(futures_util::future::try_join_all(queries.map(load)).await?);
            diesel::QueryResult::Ok(loaded)
        }
        .await
    };
}

/// Runs two pieces of work on one connection. The statements of both are sent before the first response arrives; those of the
/// first are executed first.
macro_rules! run_both {
    ($connection:expr, |$shared:ident| $first:expr, $second:expr) => {{
        let shared: &Conn = $connection;
        let first = async {
            let $shared = &mut &*shared;
            $first
        };
        let second = async {
            let $shared = &mut &*shared;
            $second
        };
        futures_util::future::try_join(first, second).await
    }};
}

/// Inserts any number of rows, in batches.
macro_rules! insert_rows {
    ($connection:expr, $table:expr, $rows:expr) => {
        async {
            for rows in crate::backend::batches($rows) {
                diesel_async::RunQueryDsl::execute(diesel::insert_into($table).values(rows), $connection).await?;
            }
            diesel::QueryResult::Ok(())
        }
        .await
    };
}

/// Inserts any number of rows, in batches, and skips existing ones. Returns the number inserted. Insert in key order: two
/// transactions that insert the same rows in different orders deadlock.
macro_rules! insert_missing_rows {
    ($connection:expr, $table:expr, $rows:expr) => {
        async {
            let mut inserted: usize = 0;
            for rows in crate::backend::batches($rows) {
                let insert = diesel::insert_into($table).values(rows).on_conflict_do_nothing();
                inserted += diesel_async::RunQueryDsl::execute(insert, $connection).await?;
            }
            diesel::QueryResult::Ok(inserted)
        }
        .await
    };
}

/// Inserts any number of rows that are an [`ArrayRow`](crate::arrays::ArrayRow), in batches.
macro_rules! insert_bulk {
    ($connection:expr, $table:expr, $rows:expr $(, $modifier:ident)?) => {
        async {
            for rows in crate::backend::batches($rows) {
                let insert = crate::arrays::ArrayRow::insert($table, rows)$(.$modifier())?;
                diesel_async::RunQueryDsl::execute(insert, $connection).await?;
            }
            diesel::QueryResult::Ok(())
        }
        .await
    };
}

/// Inserts any number of rows like [`insert_bulk`] and skips existing ones.
macro_rules! insert_missing_bulk {
    ($connection:expr, $table:expr, $rows:expr) => {
        insert_bulk!($connection, $table, $rows, on_conflict_do_nothing)
    };
}

/// Executes equal statements with different values in order. All are sent before the first response arrives.
macro_rules! execute_all {
    ($connection:expr, $statements:expr) => {
        async {
            let shared: &Conn = $connection;
            let execute = |statement| {
                let mut connection = shared;
                diesel_async::RunQueryDsl::execute(statement, &mut connection)
            };
            let mut statements = $statements.into_iter();
            // The first one prepares the statement for all.
            if let Some(first) = statements.next() {
                execute(first).await?;
            }
            futures_util::future::try_join_all(statements.map(execute)).await?;
            diesel::QueryResult::Ok(())
        }
        .await
    };
}

#[path = "../queries/mod.rs"]
pub mod queries;

/// Id of the entries that clear an index, as a literal: the planner would not use an index on these entries for a bound value.
const CLEAR_INDEX: &str = "'00000000-0000-0000-0000-000000000000'";

/// Number of lock groups for documents. A batch of any size takes at most this many locks, since the server's lock table
/// has a fixed size.
const DOCUMENT_LOCK_GROUPS: u16 = 64;

/// Arbitrary number that distinguishes these advisory locks from others.
const DOCUMENT_LOCK_CLASS: i32 = 0x646f_6373;

/// Locks documents, known or new, against being stored by another transaction until this one ends.
///
/// Row locks are not enough: a document that two transactions are about to insert has no row yet.
async fn lock_documents(connection: &mut Conn, doc_ids: &[DocId]) -> Result<()> {
    let group = |id: &DocId| i32::from(id.0.as_u128() as u16 % DOCUMENT_LOCK_GROUPS);
    // Sorted and deduplicated, so that two batches cannot deadlock.
    let groups: BTreeSet<i32> = doc_ids.iter().map(group).collect();
    diesel::sql_query("SELECT pg_advisory_xact_lock($1, lock_group) FROM unnest($2) AS lock_group")
        .bind::<Integer, _>(DOCUMENT_LOCK_CLASS)
        .bind::<Array<Integer>, _>(groups.into_iter().collect::<Vec<_>>())
        .execute(connection)
        .await?;
    Ok(())
}

/// Keeps other transactions from changing the outbox until this one ends. A document that was enqueued and fed between the snapshot and
/// the commit of a rebuild would be cleared from the index for good. Call it first: a transaction that holds nothing cannot deadlock.
///
/// The statements behind it may take an hour: a rebuild of a hundred million documents would never end otherwise. The wait for the lock is
/// short, since all who change the outbox wait behind it.
async fn lock_outbox(connection: &mut Conn) -> Result<()> {
    connection.batch_execute("SET LOCAL statement_timeout = '1h'; SET LOCAL lock_timeout = '30s'").await?;
    connection.batch_execute("LOCK TABLE outbox IN SHARE ROW EXCLUSIVE MODE").await?;
    Ok(())
}

/// Keeps other transactions from creating or changing organizations until this one ends.
async fn lock_organizations(connection: &mut Conn) -> Result<()> {
    connection.batch_execute("LOCK TABLE organizations IN SHARE ROW EXCLUSIVE MODE").await?;
    Ok(())
}

/// Arbitrary number that distinguishes the advisory lock of claims of deliveries from others.
const DELIVERY_LOCK_CLASS: i32 = 0x7765_6268;

/// Keeps other transactions from claiming deliveries until this one ends: they would not count the leases of this one.
async fn lock_claims_of_deliveries(connection: &mut Conn) -> Result<()> {
    diesel::sql_query("SELECT pg_advisory_xact_lock($1, 0)")
        .bind::<Integer, _>(DELIVERY_LOCK_CLASS)
        .execute(connection)
        .await?;
    Ok(())
}

/// Tables that imports fill and searches read.
const GROWING_TABLES: &str = "'{documents,captures,passages,term_vectors}'::regclass[]";

/// Renews the statistics of tables that have more than doubled since they were renewed last.
///
/// Autovacuum does so too, but only minutes after an import. Until then the server takes conditions such as that on the organization for
/// rare ones, and reads all documents to find some by their ids.
async fn refresh_statistics(connection: &mut Conn) -> Result<()> {
    /// Number of pages of a small table, which is fast to read whatever the plan.
    const SMALL: i32 = 100;
    let outdated: Vec<TableName> = diesel::sql_query(format!(
        "SELECT oid::regclass::text AS name FROM pg_class
         WHERE oid = ANY({GROWING_TABLES})
             AND pg_relation_size(oid) > (2 * relpages + {SMALL}) * current_setting('block_size')::bigint"
    ))
    .load(connection)
    .await?;
    for table in outdated {
        // A table that is vacuumed now is left for the next time.
        connection.batch_execute(&format!("ANALYZE (SKIP_LOCKED) {}", table.name)).await?;
    }
    Ok(())
}

/// Name of a table, quoted if necessary.
#[derive(diesel::QueryableByName)]
struct TableName {
    #[diesel(sql_type = diesel::sql_types::Text)]
    name: String,
}

#[derive(Clone)]
pub struct Pools {
    pool: Pool<Conn>,
}

impl Pools {
    pub fn open(url: &str, connections: usize) -> Result<Self> {
        let mut config = ManagerConfig::<Conn>::default();
        config.custom_setup = Box::new(|url| Box::pin(connect(url)));
        // A closed connection is detected without a test query, which would cost every operation a round trip.
        config.recycling_method = RecyclingMethod::Fast;
        let manager = AsyncDieselConnectionManager::<Conn>::new_with_config(url, config);
        let pool = Pool::builder(manager)
            .max_size(connections)
            .wait_timeout(Some(CONNECTION_TIMEOUT))
            .create_timeout(Some(CONNECTION_TIMEOUT))
            .runtime(deadpool::Runtime::Tokio1)
            .build()
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Self { pool })
    }

    pub fn usage(&self) -> PoolUsage {
        PoolUsage::of(self.pool.status())
    }

    pub async fn reader(&self) -> Result<Object<Conn>> {
        self.pool.get().await.map_err(|error| StoreError::Unavailable(error.to_string()))
    }

    pub async fn writer(&self) -> Result<Object<Conn>> {
        self.reader().await
    }

    /// Runs the body on a connection. It may see writes of others between its statements.
    pub async fn read<T, F>(&self, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> futures_util::future::BoxFuture<'c, Result<T>> + Send + 'static,
    {
        body(&mut *self.reader().await?).await
    }

    /// Runs the body on one consistent snapshot of the database.
    pub async fn snapshot<T, F>(&self, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> futures_util::future::BoxFuture<'c, Result<T>> + Send + 'static,
    {
        let mut connection = self.reader().await?;
        let mut transaction = connection.build_transaction().repeatable_read().read_only();
        transaction.run(async move |connection| body(connection).await).await
    }

    /// Runs the body in one transaction.
    pub async fn write<T, F>(&self, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> futures_util::future::BoxFuture<'c, Result<T>> + Send + 'static,
    {
        let mut connection = self.writer().await?;
        let outcome = connection.transaction(async move |connection| body(connection).await).await;
        drop_if_unavailable(connection, &outcome);
        outcome
    }

    /// Runs the body like [`write`](Self::write): the server's configuration decides on durability.
    pub async fn write_relaxed<T, F>(&self, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> futures_util::future::BoxFuture<'c, Result<T>> + Send + 'static,
    {
        self.write(body).await
    }

    /// Runs the body without a transaction, which would cost two round trips: each of its statements commits by itself.
    pub async fn write_stepwise<T, F>(&self, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> futures_util::future::BoxFuture<'c, Result<T>> + Send + 'static,
    {
        let mut connection = self.writer().await?;
        let outcome = body(&mut connection).await;
        drop_if_unavailable(connection, &outcome);
        outcome
    }

    /// Runs the body like [`write`](Self::write): writes are concurrent and share no transaction.
    pub async fn write_bulk<T, F>(&self, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> futures_util::future::BoxFuture<'c, Result<T>> + Send + 'static,
    {
        self.write(body).await
    }
}

/// Takes a connection out of the pool after a failed write. A server that has become a standby may keep its connections, which
/// would reject all further writes.
fn drop_if_unavailable<T>(connection: Object<Conn>, outcome: &Result<T>) {
    if matches!(outcome, Err(StoreError::Unavailable(_))) {
        drop(Object::take(connection));
    }
}

/// Parses a database URL. The error message never contains a part of the password.
pub fn parse(url: &str) -> Result<tokio_postgres::Config, String> {
    let config: tokio_postgres::Config = url.parse().map_err(|error: tokio_postgres::Error| {
        let message = describe(&error);
        // The message quotes the parameter, which is the rest of the password if that contains an unescaped `?`.
        if message.contains("unknown option") { "unknown parameter".to_owned() } else { message }
    })?;
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        return Err("missing host".to_owned());
    }
    Ok(config)
}

/// Time after which a connection whose server does not acknowledge what was sent is closed.
const UNACKNOWLEDGED: Duration = Duration::from_secs(15);
/// Idle time after which the server is asked if it is still there.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(15);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_RETRIES: u32 = 3;

/// Detects servers that vanished without a word, unless the URL says when: the system would take from 15 minutes to over two hours, in
/// which all operations wait.
fn detect_dead_servers(config: &mut tokio_postgres::Config, url: &str) {
    let is_set = |name: &str| url.contains(&format!("{name}="));
    if !is_set("tcp_user_timeout") {
        config.tcp_user_timeout(UNACKNOWLEDGED);
    }
    if !is_set("keepalives_idle") {
        config.keepalives_idle(KEEPALIVE_IDLE);
    }
    if !is_set("keepalives_interval") {
        config.keepalives_interval(KEEPALIVE_INTERVAL);
    }
    if !is_set("keepalives_retries") {
        config.keepalives_retries(KEEPALIVE_RETRIES);
    }
}

async fn connect(url: &str) -> ConnectionResult<Conn> {
    let bad = |error: String| ConnectionError::BadConnection(error);
    let mut config = parse(url).map_err(bad)?;
    detect_dead_servers(&mut config, url);
    let mut connection = if config.get_ssl_mode() == SslMode::Disable || is_local(&config) {
        let (client, connection) =
            config.connect(tokio_postgres::NoTls).await.map_err(|error| bad(describe(&error)))?;
        AsyncPgConnection::try_from_client_and_connection(client, connection).await?
    } else {
        let tls = tokio_postgres_rustls::MakeRustlsConnect::new(tls_config().clone());
        let (client, connection) = config.connect(tls).await.map_err(|error| bad(with_hint(describe(&error))))?;
        AsyncPgConnection::try_from_client_and_connection(client, connection).await?
    };
    // No statement legitimately runs this long; without a limit a stuck one would hold its connection forever.
    connection
        .batch_execute("SET statement_timeout = '60s'; SET idle_in_transaction_session_timeout = '60s'")
        .await
        .map_err(ConnectionError::CouldntSetupConfiguration)?;
    messages::prefer_english(&mut connection).await.map_err(ConnectionError::CouldntSetupConfiguration)?;
    Ok(connection)
}

/// Returns true if all hosts are Unix sockets, which need no TLS.
fn is_local(config: &tokio_postgres::Config) -> bool {
    config.get_hosts().iter().all(|host| matches!(host, tokio_postgres::config::Host::Unix(_)))
}

fn describe(error: &tokio_postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// Says what to do about a certificate that is not trusted, as the self-signed one of Debian's packages.
fn with_hint(message: String) -> String {
    if !message.contains("TLS handshake") {
        return message;
    }
    format!(
        "{message}; trust its authority on this machine, or, on a network that you trust, end database.url with `?sslmode=disable`"
    )
}

/// Returns the shared TLS configuration. It is built once, since that reads all certificates of the system.
fn tls_config() -> &'static rustls::ClientConfig {
    static CONFIG: OnceLock<rustls::ClientConfig> = OnceLock::new();
    CONFIG.get_or_init(new_tls_config)
}

fn new_tls_config() -> rustls::ClientConfig {
    let mut roots = rustls::RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    // Certificate authorities that the operator installed on the system.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    rustls::ClientConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .unwrap_or_else(|error| unreachable!("ring supports the default protocol versions: {error}"))
        .with_root_certificates(roots)
        .with_no_client_auth()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use super::*;

    #[test]
    fn dead_servers_are_detected_within_half_a_minute_unless_the_url_says_otherwise() {
        let settings = |parameters: &str| {
            let url = format!("postgres://db/retrieval{parameters}");
            let mut config = parse(&url).unwrap();
            detect_dead_servers(&mut config, &url);
            (
                config.get_tcp_user_timeout().map(Duration::as_secs),
                config.get_keepalives(),
                config.get_keepalives_idle().as_secs(),
                config.get_keepalives_interval().map(|interval| interval.as_secs()),
                config.get_keepalives_retries(),
            )
        };
        assert_eq!(settings(""), (Some(15), true, 15, Some(5), Some(3)));
        assert_eq!(settings("?sslmode=disable&tcp_user_timeout=60"), (Some(60), true, 15, Some(5), Some(3)));
        assert_eq!(settings("?tcp_user_timeout=0&keepalives=0"), (None, false, 15, Some(5), Some(3)));
        let own = "?keepalives_idle=7200&keepalives_interval=75&keepalives_retries=9";
        assert_eq!(settings(own), (Some(15), true, 7_200, Some(75), Some(9)));
    }
}
