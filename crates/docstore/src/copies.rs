//! Copies of SQLite databases, for backups.

use std::path::Path;
use std::sync::Arc;

use diesel::QueryableByName;
use diesel::sql_types::{Nullable, Text};
use diesel_async::RunQueryDsl;
use tokio::runtime::Handle;

use crate::Docstore;
use crate::backend::{Backend, sqlite};
use crate::error::{Result, StoreError};
use crate::migrations;

#[derive(QueryableByName)]
struct Finding {
    #[diesel(sql_type = Nullable<Text>)]
    text: Option<String>,
}

impl Docstore {
    /// Opens a SQLite file that no process writes, without changing it or its folder.
    ///
    /// # Errors
    ///
    /// As [`Docstore::open`].
    pub fn open_copy(path: &Path) -> Result<Self> {
        let runtime = Handle::try_current().map_err(|_| StoreError::WrongRuntime)?;
        Ok(Self { backend: Backend::Sqlite(sqlite::Pools::open_copy(path)?), runtime, clock: Arc::default() })
    }

    /// Writes a consistent copy of the SQLite database to a new file, while other connections read and write. The copy
    /// contains the write-ahead log. It is not synced to disk.
    ///
    /// # Errors
    ///
    /// `NotSqlite` on PostgreSQL.
    pub async fn copy_to(&self, path: &Path) -> Result<()> {
        let pools = self.sqlite()?;
        let path = sqlite::path_text(path)?.to_owned();
        let copy = diesel::sql_query("VACUUM INTO ?").bind::<Text, _>(path);
        pools
            .read(|connection| {
                Box::pin(async move {
                    copy.execute(connection).await?;
                    Ok(())
                })
            })
            .await
    }

    /// Returns the damage that SQLite finds in the file: none in a sound one, and on PostgreSQL.
    pub async fn find_damage(&self) -> Result<Vec<String>> {
        let Ok(pools) = self.sqlite() else { return Ok(Vec::new()) };
        pools.read(|connection| Box::pin(check_file(connection))).await
    }

    /// Verifies that this version can use the database: migrations that it does not know only add to it.
    ///
    /// # Errors
    ///
    /// `NewerDatabase` otherwise, and `NotSqlite` on PostgreSQL.
    pub async fn check_supported(&self) -> Result<()> {
        let pools = self.sqlite()?;
        migrations::check_supported(&pools).await
    }

    fn sqlite(&self) -> Result<sqlite::Pools> {
        match &self.backend {
            Backend::Sqlite(pools) => Ok(pools.clone()),
            Backend::Postgres(_) => Err(StoreError::NotSqlite),
        }
    }
}

async fn check_file(connection: &mut sqlite::Conn) -> Result<Vec<String>> {
    let mut damage = Vec::new();
    for check in [
        "SELECT integrity_check AS text FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
        "SELECT DISTINCT 'row of `' || \"table\" || '` without its `' || parent || '`' AS text \
         FROM pragma_foreign_key_check",
    ] {
        let found: Vec<Finding> = diesel::sql_query(check).load(connection).await?;
        damage.extend(found.into_iter().filter_map(|finding| finding.text));
    }
    Ok(damage)
}
