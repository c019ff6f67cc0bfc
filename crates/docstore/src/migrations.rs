//! The tables' versions, embedded for both backends.

use diesel::backend::Backend as DieselBackend;
use diesel_async::AsyncMigrationHarness;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use crate::backend::Backend;
use crate::error::{Result, StoreError};

const POSTGRES: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");
const SQLITE: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");

/// Any number: it only has to be ours. Two processes that migrate at once take turns.
const ADVISORY_LOCK: i64 = 0x7265_7472;

pub async fn run(backend: Backend) -> Result<usize> {
    match backend {
        Backend::Postgres(pools) => {
            use diesel_async::SimpleAsyncConnection;
            let mut connection = pools.writer().await?;
            connection.batch_execute(&format!("SELECT pg_advisory_lock({ADVISORY_LOCK})")).await?;
            let mut harness = AsyncMigrationHarness::new(connection);
            let ran = run_pending(&mut harness, POSTGRES);
            harness.into_inner().batch_execute(&format!("SELECT pg_advisory_unlock({ADVISORY_LOCK})")).await?;
            ran
        }
        Backend::Sqlite(pools) => run_pending(&mut AsyncMigrationHarness::new(pools.writer().await?), SQLITE),
    }
}

pub async fn check(backend: Backend) -> Result<()> {
    let pending = match backend {
        Backend::Postgres(pools) => count_pending(&mut AsyncMigrationHarness::new(pools.reader().await?), POSTGRES)?,
        Backend::Sqlite(pools) => count_pending(&mut AsyncMigrationHarness::new(pools.writer().await?), SQLITE)?,
    };
    if pending == 0 { Ok(()) } else { Err(StoreError::NotMigrated { pending }) }
}

pub async fn revert_all(backend: Backend) -> Result<()> {
    match backend {
        Backend::Postgres(pools) => revert(&mut AsyncMigrationHarness::new(pools.writer().await?), POSTGRES),
        Backend::Sqlite(pools) => revert(&mut AsyncMigrationHarness::new(pools.writer().await?), SQLITE),
    }
}

fn run_pending<DB: DieselBackend>(harness: &mut impl MigrationHarness<DB>, source: EmbeddedMigrations) -> Result<usize>
where
    EmbeddedMigrations: diesel::migration::MigrationSource<DB>,
{
    harness.run_pending_migrations(source).map(|ran| ran.len()).map_err(failed)
}

fn count_pending<DB: DieselBackend>(
    harness: &mut impl MigrationHarness<DB>,
    source: EmbeddedMigrations,
) -> Result<usize>
where
    EmbeddedMigrations: diesel::migration::MigrationSource<DB>,
{
    harness.pending_migrations(source).map(|pending| pending.len()).map_err(failed)
}

fn revert<DB: DieselBackend>(harness: &mut impl MigrationHarness<DB>, source: EmbeddedMigrations) -> Result<()>
where
    EmbeddedMigrations: diesel::migration::MigrationSource<DB>,
{
    harness.revert_all_migrations(source).map(|_| ()).map_err(failed)
}

fn failed(error: Box<dyn std::error::Error + Send + Sync>) -> StoreError {
    StoreError::Migration(error.to_string())
}
