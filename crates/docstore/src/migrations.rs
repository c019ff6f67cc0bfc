//! Embedded migrations of both backends.

use std::collections::HashSet;

use diesel::SqliteConnection;
use diesel::backend::Backend as DieselBackend;
use diesel::migration::MigrationSource;
use diesel_async::pooled_connection::deadpool::Object;
use diesel_async::{AsyncMigrationHarness, SimpleAsyncConnection};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use crate::backend::{Backend, postgres, sqlite};
use crate::error::{Result, StoreError};

const POSTGRES: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");
const SQLITE: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");

/// Arbitrary number that distinguishes this advisory lock from others.
const ADVISORY_LOCK: i64 = 0x7265_7472;

/// Runs pending migrations and returns their number. Concurrent processes migrate one after the other.
pub async fn run(backend: Backend) -> Result<usize> {
    match backend {
        Backend::Postgres(pools) => run_pending(&mut lock_postgres(&pools).await?, POSTGRES),
        Backend::Sqlite(pools) => with_locked_sqlite(&pools, |connection| run_pending(connection, SQLITE)).await,
    }
}

pub async fn check(backend: Backend) -> Result<()> {
    let pending = match backend {
        Backend::Postgres(pools) => count_pending(&mut AsyncMigrationHarness::new(pools.reader().await?), POSTGRES)?,
        Backend::Sqlite(pools) => with_locked_sqlite(&pools, |connection| count_pending(connection, SQLITE)).await?,
    };
    if pending == 0 { Ok(()) } else { Err(StoreError::NotMigrated { pending }) }
}

/// Verifies that every applied migration is one of this version.
pub async fn check_supported(pools: &sqlite::Pools) -> Result<()> {
    let mut connection = pools.reader().await?;
    connection.spawn_blocking(|connection| Ok(refuse_newer(connection, &SQLITE))).await?
}

pub async fn revert_all(backend: Backend) -> Result<()> {
    match backend {
        Backend::Postgres(pools) => revert(&mut lock_postgres(&pools).await?, POSTGRES),
        Backend::Sqlite(pools) => with_locked_sqlite(&pools, |connection| revert(connection, SQLITE)).await,
    }
}

/// Takes the advisory lock on a connection outside of the pool, so that the lock and the settings end with the
/// connection. Neither a migration nor the wait for the lock has a timeout.
async fn lock_postgres(pools: &postgres::Pools) -> Result<AsyncMigrationHarness<postgres::Conn>> {
    let mut connection = Object::take(pools.writer().await?);
    connection.batch_execute("SET statement_timeout = 0").await?;
    connection.batch_execute(&format!("SELECT pg_advisory_lock({ADVISORY_LOCK})")).await?;
    Ok(AsyncMigrationHarness::new(connection))
}

/// Runs the body in one transaction that holds the write lock from its start.
async fn with_locked_sqlite<T: Send + 'static>(
    pools: &sqlite::Pools,
    body: impl FnOnce(&mut SqliteConnection) -> Result<T> + Send + 'static,
) -> Result<T> {
    let mut connection = pools.writer().await?;
    connection.spawn_blocking(move |connection| Ok(connection.immediate_transaction(body))).await?
}

fn run_pending<DB: DieselBackend>(harness: &mut impl MigrationHarness<DB>, source: EmbeddedMigrations) -> Result<usize>
where
    EmbeddedMigrations: MigrationSource<DB>,
{
    refuse_newer(harness, &source)?;
    harness.run_pending_migrations(source).map(|ran| ran.len()).map_err(migration_error)
}

fn count_pending<DB: DieselBackend>(
    harness: &mut impl MigrationHarness<DB>,
    source: EmbeddedMigrations,
) -> Result<usize>
where
    EmbeddedMigrations: MigrationSource<DB>,
{
    refuse_newer(harness, &source)?;
    harness.pending_migrations(source).map(|pending| pending.len()).map_err(migration_error)
}

fn revert<DB: DieselBackend>(harness: &mut impl MigrationHarness<DB>, source: EmbeddedMigrations) -> Result<()>
where
    EmbeddedMigrations: MigrationSource<DB>,
{
    harness.revert_all_migrations(source).map(|_| ()).map_err(migration_error)
}

/// Fails if a newer version has migrated the database: this version would misread or damage its tables.
fn refuse_newer<DB: DieselBackend>(harness: &mut impl MigrationHarness<DB>, source: &EmbeddedMigrations) -> Result<()>
where
    EmbeddedMigrations: MigrationSource<DB>,
{
    let known = MigrationSource::<DB>::migrations(source).map_err(migration_error)?;
    let known: HashSet<String> = known.iter().map(|migration| migration.name().version().to_string()).collect();
    let applied = harness.applied_migrations().map_err(migration_error)?;
    let newest = applied.iter().map(ToString::to_string).filter(|version| !known.contains(version)).max();
    newest.map_or(Ok(()), |migration| Err(StoreError::NewerDatabase { migration }))
}

fn migration_error(error: Box<dyn std::error::Error + Send + Sync>) -> StoreError {
    StoreError::Migration(error.to_string())
}
