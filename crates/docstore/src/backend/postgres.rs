//! PostgreSQL: one pool for everything, TLS by rustls where the URL asks for it.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use diesel::sql_types::{Array, Integer};
use diesel::{ConnectionError, ConnectionResult};
use diesel_async::pooled_connection::deadpool::{Object, Pool};
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use model::DocId;
use tokio_postgres::config::SslMode;

use crate::backend::CONNECTION_WAIT;
use crate::error::{Result, StoreError};

pub type Conn = AsyncPgConnection;

/// Locks the selected rows and passes over those that another transaction holds.
macro_rules! lock_free_rows {
    ($query:expr) => {
        $query.for_update().skip_locked()
    };
}

/// Locks the selected rows against change, in the order of the query, and waits for those that another transaction
/// holds. Select them in the order of their keys: two transactions that lock in different orders end in a deadlock.
macro_rules! lock_rows {
    ($query:expr) => {
        $query.for_no_key_update()
    };
}

/// Locks the selected rows against deletion, in the order of the query.
macro_rules! keep_rows {
    ($query:expr) => {
        $query.for_key_share()
    };
}

/// Inserts the rows, however many.
macro_rules! insert_rows {
    ($connection:expr, $table:expr, $rows:expr) => {
        async {
            for rows in crate::backend::statements($rows) {
                diesel_async::RunQueryDsl::execute(diesel::insert_into($table).values(rows), $connection).await?;
            }
            diesel::QueryResult::Ok(())
        }
        .await
    };
}

/// Inserts the rows, however many, leaving those that exist already as they are. Two transactions that insert the
/// same rows must do so in the same order.
macro_rules! insert_missing_rows {
    ($connection:expr, $table:expr, $rows:expr) => {
        async {
            for rows in crate::backend::statements($rows) {
                let insert = diesel::insert_into($table).values(rows).on_conflict_do_nothing();
                diesel_async::RunQueryDsl::execute(insert, $connection).await?;
            }
            diesel::QueryResult::Ok(())
        }
        .await
    };
}

#[path = "../queries/mod.rs"]
pub mod queries;

/// Documents are locked in this many groups, so that a batch of any size takes few locks: the server's table of them
/// is of a fixed size.
const DOCUMENT_LOCKS: u16 = 64;

/// Any number: it tells these locks from others.
const DOCUMENT_LOCK_CLASS: i32 = 0x646f_6373;

/// Until the end of the transaction nobody else stores these documents, known or new.
///
/// A row lock cannot do that: there is no row yet to lock of a document that two transactions are about to insert.
async fn lock_documents(connection: &mut Conn, doc_ids: &[DocId]) -> Result<()> {
    let group = |id: &DocId| i32::from(id.0.as_u128() as u16 % DOCUMENT_LOCKS);
    // In order, each once: two batches never wait for each other crosswise.
    let groups: BTreeSet<i32> = doc_ids.iter().map(group).collect();
    diesel::sql_query("SELECT pg_advisory_xact_lock($1, lock_group) FROM unnest($2) AS lock_group")
        .bind::<Integer, _>(DOCUMENT_LOCK_CLASS)
        .bind::<Array<Integer>, _>(groups.into_iter().collect::<Vec<_>>())
        .execute(connection)
        .await?;
    Ok(())
}

#[derive(Clone)]
pub struct Pools {
    pool: Pool<Conn>,
}

impl Pools {
    pub fn open(url: &str, connections: usize) -> Result<Self> {
        let mut config = ManagerConfig::<Conn>::default();
        config.custom_setup = Box::new(|url| Box::pin(connect(url)));
        // A connection that the server closed is noticed without a test query, which would cost every operation a
        // second round trip.
        config.recycling_method = RecyclingMethod::Fast;
        let manager = AsyncDieselConnectionManager::<Conn>::new_with_config(url, config);
        let pool = Pool::builder(manager)
            .max_size(connections)
            .wait_timeout(Some(CONNECTION_WAIT))
            .create_timeout(Some(CONNECTION_WAIT))
            .runtime(deadpool::Runtime::Tokio1)
            .build()
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Self { pool })
    }

    pub async fn reader(&self) -> Result<Object<Conn>> {
        self.pool.get().await.map_err(|error| StoreError::Unavailable(error.to_string()))
    }

    pub async fn writer(&self) -> Result<Object<Conn>> {
        self.reader().await
    }

    /// Runs the body on one snapshot of the database: what several queries find belongs together.
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
        connection.transaction(async move |connection| body(connection).await).await
    }
}

/// Reads the address. The message on failure holds nothing of it that could be a part of the password.
pub fn parse(url: &str) -> Result<tokio_postgres::Config, String> {
    let config: tokio_postgres::Config = url.parse().map_err(|error: tokio_postgres::Error| {
        let message = describe(&error);
        // It names the parameter, which an unescaped `?` makes of the rest of a password.
        if message.contains("unknown option") { "it has an unknown parameter".to_owned() } else { message }
    })?;
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        return Err("it names no host".to_owned());
    }
    Ok(config)
}

async fn connect(url: &str) -> ConnectionResult<Conn> {
    let bad = |error: String| ConnectionError::BadConnection(error);
    let config = parse(url).map_err(bad)?;
    let mut connection = if config.get_ssl_mode() == SslMode::Disable || is_local(&config) {
        let (client, connection) =
            config.connect(tokio_postgres::NoTls).await.map_err(|error| bad(describe(&error)))?;
        AsyncPgConnection::try_from_client_and_connection(client, connection).await?
    } else {
        let tls = tokio_postgres_rustls::MakeRustlsConnect::new(tls_config().clone());
        let (client, connection) = config.connect(tls).await.map_err(|error| bad(describe(&error)))?;
        AsyncPgConnection::try_from_client_and_connection(client, connection).await?
    };
    // A statement that runs for this long is a fault; without a limit it would hold its connection for ever.
    connection
        .batch_execute("SET statement_timeout = '60s'; SET idle_in_transaction_session_timeout = '60s'")
        .await
        .map_err(ConnectionError::CouldntSetupConfiguration)?;
    Ok(connection)
}

/// A Unix socket needs no TLS.
fn is_local(config: &tokio_postgres::Config) -> bool {
    config.get_hosts().iter().all(|host| matches!(host, tokio_postgres::config::Host::Unix(_)))
}

fn describe(error: &tokio_postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// Made once: it reads every certificate of the system.
fn tls_config() -> &'static rustls::ClientConfig {
    static CONFIG: OnceLock<rustls::ClientConfig> = OnceLock::new();
    CONFIG.get_or_init(new_tls_config)
}

fn new_tls_config() -> rustls::ClientConfig {
    let mut roots = rustls::RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    // The operator's own authorities, where the system has them.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    rustls::ClientConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .unwrap_or_else(|error| unreachable!("ring supports the default protocol versions: {error}"))
        .with_root_certificates(roots)
        .with_no_client_auth()
}
