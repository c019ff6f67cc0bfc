//! PostgreSQL: one pool for everything, TLS by rustls where the URL asks for it.

use diesel::{ConnectionError, ConnectionResult};
use diesel_async::pooled_connection::deadpool::{Object, Pool};
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig};
use diesel_async::{AsyncConnection, AsyncPgConnection, SimpleAsyncConnection};
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

/// Inserts all rows in one statement.
macro_rules! insert_rows {
    ($connection:expr, $table:expr, $rows:expr) => {
        diesel_async::RunQueryDsl::execute(diesel::insert_into($table).values($rows), $connection).await
    };
}

/// Inserts all rows in one statement, leaving those that exist already as they are.
macro_rules! insert_missing_rows {
    ($connection:expr, $table:expr, $rows:expr) => {
        diesel_async::RunQueryDsl::execute(
            diesel::insert_into($table).values($rows).on_conflict_do_nothing(),
            $connection,
        )
        .await
    };
}

#[path = "../queries/mod.rs"]
pub mod queries;

#[derive(Clone)]
pub struct Pools {
    pool: Pool<Conn>,
}

impl Pools {
    pub fn open(url: &str, connections: usize) -> Result<Self> {
        let mut config = ManagerConfig::<Conn>::default();
        config.custom_setup = Box::new(|url| Box::pin(connect(url)));
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

async fn connect(url: &str) -> ConnectionResult<Conn> {
    let bad = |error: String| ConnectionError::BadConnection(error);
    let config: tokio_postgres::Config = url.parse().map_err(|error| bad(format!("{error}")))?;
    let mut connection = if config.get_ssl_mode() == SslMode::Disable || is_local(&config) {
        let (client, connection) =
            config.connect(tokio_postgres::NoTls).await.map_err(|error| bad(describe(&error)))?;
        AsyncPgConnection::try_from_client_and_connection(client, connection).await?
    } else {
        let tls = tokio_postgres_rustls::MakeRustlsConnect::new(tls_config());
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

fn tls_config() -> rustls::ClientConfig {
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
