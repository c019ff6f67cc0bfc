//! Embedded migrations of both backends.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use diesel::backend::Backend as DieselBackend;
use diesel::migration::MigrationSource;
use diesel::{QueryDsl, SqliteConnection};
use diesel_async::pooled_connection::deadpool::Object;
use diesel_async::{AsyncMigrationHarness, SimpleAsyncConnection};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use crate::backend::{Backend, postgres, sqlite};
use crate::error::{Result, StoreError};
use crate::schema::contractions;

const POSTGRES: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");
const SQLITE: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");

/// Version of the migration that creates the table `contractions`.
const CONTRACTIONS: &str = "20261125000000";

/// Arbitrary number that distinguishes this advisory lock from others.
const ADVISORY_LOCK: i64 = 0x7265_7472;

/// Time in milliseconds that a migration waits for a table on PostgreSQL. All later queries of the table wait behind it: without
/// a limit, a dump that reads the table would stop the running instances.
const LOCK_TIMEOUT: u32 = 2_000;
/// Pause after such a wait, in which the queries behind it proceed.
const LOCK_PAUSE: Duration = Duration::from_secs(2);
/// Time after which a migration gives up a table that is never free.
const LOCK_PATIENCE: Duration = Duration::from_mins(10);

/// Runs pending migrations and returns their number. Concurrent processes migrate one after the other.
pub async fn run(backend: Backend) -> Result<usize> {
    match backend {
        Backend::Postgres(pools) => run_on_postgres(lock_postgres(&pools).await?).await,
        Backend::Sqlite(pools) => {
            let run = |connection: &mut SqliteConnection| {
                refuse_newer_sqlite(connection)?;
                run_pending(connection, SQLITE)
            };
            pools.exclusive(run).await
        }
    }
}

pub async fn check(backend: Backend) -> Result<()> {
    let pending = match backend {
        Backend::Postgres(pools) => {
            let connection = refuse_newer_postgres(Object::take(pools.reader().await?)).await?;
            count_pending(&mut AsyncMigrationHarness::new(connection), POSTGRES)?
        }
        Backend::Sqlite(pools) => {
            let check = |connection: &mut SqliteConnection| {
                refuse_newer_sqlite(connection)?;
                count_pending(connection, SQLITE)
            };
            pools.exclusive(check).await?
        }
    };
    if pending == 0 { Ok(()) } else { Err(StoreError::NotMigrated { pending }) }
}

/// Verifies that this version can use the database: it knows every applied migration, or those that it does not know only add.
pub async fn check_supported(pools: &sqlite::Pools) -> Result<()> {
    let check = |connection: &mut SqliteConnection| Ok(refuse_newer_sqlite(connection));
    pools.read(move |connection| Box::pin(async move { connection.spawn_blocking(check).await? })).await
}

pub async fn revert_all(backend: Backend) -> Result<()> {
    match backend {
        Backend::Postgres(pools) => revert(&mut AsyncMigrationHarness::new(lock_postgres(&pools).await?), POSTGRES),
        Backend::Sqlite(pools) => pools.exclusive(|connection| revert(connection, SQLITE)).await,
    }
}

/// Takes the advisory lock on a connection outside of the pool, so that the lock and the settings end with the
/// connection. Neither a migration nor the wait for this lock has a timeout.
async fn lock_postgres(pools: &postgres::Pools) -> Result<postgres::Conn> {
    let mut connection = Object::take(pools.writer().await?);
    connection.batch_execute("SET statement_timeout = 0").await?;
    connection.batch_execute(&format!("SELECT pg_advisory_lock({ADVISORY_LOCK})")).await?;
    Ok(connection)
}

/// Runs pending migrations beside running instances. A migration that finds a table in use is rolled back and tried again: each
/// runs in its own transaction, so that those before it stay.
async fn run_on_postgres(connection: postgres::Conn) -> Result<usize> {
    let mut connection = refuse_newer_postgres(connection).await?;
    connection.batch_execute(&format!("SET lock_timeout = {LOCK_TIMEOUT}")).await?;
    let mut harness = AsyncMigrationHarness::new(connection);
    let deadline = Instant::now() + LOCK_PATIENCE;
    let mut pending = 0;
    loop {
        let outcome = count_pending(&mut harness, POSTGRES).and_then(|left| {
            // The first count: under the advisory lock the number only falls.
            pending = left.max(pending);
            run_pending(&mut harness, POSTGRES)
        });
        match outcome {
            Ok(_) => return Ok(pending),
            Err(error) if is_lock_timeout(&error) && Instant::now() < deadline => {
                tracing::info!(error = &error as &dyn std::error::Error, "a table is in use: migrating again soon");
            }
            Err(error) => return Err(error),
        }
        tokio::time::sleep(LOCK_PAUSE).await;
    }
}

/// Returns true if a statement waited too long for a table. Diesel exposes no code of this error, only its message.
fn is_lock_timeout(error: &StoreError) -> bool {
    matches!(error, StoreError::Migration(message) if message.contains("lock timeout"))
}

fn run_pending<DB: DieselBackend>(harness: &mut impl MigrationHarness<DB>, source: EmbeddedMigrations) -> Result<usize>
where
    EmbeddedMigrations: MigrationSource<DB>,
{
    harness.run_pending_migrations(source).map(|ran| ran.len()).map_err(migration_error)
}

fn count_pending<DB: DieselBackend>(
    harness: &mut impl MigrationHarness<DB>,
    source: EmbeddedMigrations,
) -> Result<usize>
where
    EmbeddedMigrations: MigrationSource<DB>,
{
    harness.pending_migrations(source).map(|pending| pending.len()).map_err(migration_error)
}

fn revert<DB: DieselBackend>(harness: &mut impl MigrationHarness<DB>, source: EmbeddedMigrations) -> Result<()>
where
    EmbeddedMigrations: MigrationSource<DB>,
{
    harness.revert_all_migrations(source).map(|_| ()).map_err(migration_error)
}

/// Fails if a newer version has migrated the database so that this version would misread or damage its tables.
async fn refuse_newer_postgres(connection: postgres::Conn) -> Result<postgres::Conn> {
    let mut harness = AsyncMigrationHarness::new(connection);
    let newer = find_newer(&mut harness, &POSTGRES)?;
    let mut connection = harness.into_inner();
    if let Some(newer) = newer {
        let contractions = if newer.records_contractions {
            diesel_async::RunQueryDsl::load(contractions::table.select(contractions::migration), &mut connection)
                .await?
        } else {
            Vec::new()
        };
        newer.refuse(&contractions)?;
    }
    Ok(connection)
}

/// Fails if a newer version has migrated the SQLite database so that this version would misread or damage its tables.
fn refuse_newer_sqlite(connection: &mut SqliteConnection) -> Result<()> {
    let Some(newer) = find_newer(connection, &SQLITE)? else { return Ok(()) };
    let contractions = if newer.records_contractions {
        diesel::RunQueryDsl::load(contractions::table.select(contractions::migration), connection)?
    } else {
        Vec::new()
    };
    newer.refuse(&contractions)
}

/// Migrations that this version does not know.
struct Newer {
    /// Never empty.
    migrations: Vec<String>,
    /// False if the database is from before the table, so that each of the migrations may take something away.
    records_contractions: bool,
}

impl Newer {
    fn refuse(self, contractions: &[String]) -> Result<()> {
        let mut refused: Vec<String> = self.migrations;
        if self.records_contractions {
            let count = refused.len();
            refused.retain(|migration| contractions.contains(migration));
            if refused.is_empty() {
                tracing::info!(migrations = count, "the database is of a newer version, which only added to it");
            }
        }
        refused.into_iter().max().map_or(Ok(()), |migration| Err(StoreError::NewerDatabase { migration }))
    }
}

fn find_newer<DB: DieselBackend>(
    harness: &mut impl MigrationHarness<DB>,
    source: &EmbeddedMigrations,
) -> Result<Option<Newer>>
where
    EmbeddedMigrations: MigrationSource<DB>,
{
    let known = MigrationSource::<DB>::migrations(source).map_err(migration_error)?;
    let known: HashSet<String> = known.iter().map(|migration| migration.name().version().to_string()).collect();
    let applied = harness.applied_migrations().map_err(migration_error)?;
    let applied: Vec<String> = applied.iter().map(ToString::to_string).collect();
    let records_contractions = applied.iter().any(|version| version == CONTRACTIONS);
    let migrations: Vec<String> = applied.into_iter().filter(|version| !known.contains(version)).collect();
    Ok((!migrations.is_empty()).then_some(Newer { migrations, records_contractions }))
}

fn migration_error(error: Box<dyn std::error::Error + Send + Sync>) -> StoreError {
    StoreError::Migration(error.to_string())
}
